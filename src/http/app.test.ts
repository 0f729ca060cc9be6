import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { createApp } from './app.ts';
import type { AppOptions } from './app-options.ts';
import { Gate } from './gate.ts';
import { createMetrics } from './metrics.ts';
import { Places } from './places.ts';
import { remoteAddressBehind } from './remote-address.ts';
import { Sources } from './sources.ts';
import { Strangers } from './strangers.ts';

function app(options: Partial<AppOptions> = {}, gate = new Gate(1)): ReturnType<typeof createApp> {
  return createApp(
    {
      path: '/as4',
      maxBody: 1000,
      envelopeTimeoutMs: 1000,
      requestTimeoutMs: 1000,
      drainTimeoutMs: 1000,
      retryAfterSeconds: 30,
      remoteAddress: remoteAddressBehind([]),
      sources: new Sources({ inFlight: 1_000, failuresPerMinute: 0, now: Date.now }),
      receive: async () => ({ status: 200, contentType: 'application/soap+xml', body: Buffer.from('<r/>') }),
      health: async () => ({ ready: true, degraded: [] }),
      log: { warn: () => {}, error: () => {} },
      newId: () => 'id',
      ...options,
    },
    {
      gate,
      strangers: new Strangers(8),
      bodies: new WeakMap(),
      expecting: new WeakSet(),
      draining: new Places(8),
      last: new WeakSet(),
    },
  );
}

describe('the AS4 path', () => {
  it('tells a browser what it is, with GET and HEAD', async () => {
    const answer = await request(app()).get('/as4?wsdl').expect(200);
    expect(answer.text).toContain('POST');
    const head = await request(app()).head('/as4').expect(200);
    expect(head.headers['content-length']).toBe(answer.headers['content-length']);
  });

  it.each(['put', 'delete', 'options', 'patch'] as const)('refuses %s with 405 and Allow', async (method) => {
    const answer = await request(app())[method]('/as4').expect(405);
    expect(answer.headers.allow).toBe('GET, HEAD, POST');
  });

  it('answers a message with Content-Length and without what express adds', async () => {
    const answer = await request(app())
      .post('/as4')
      .set('Content-Type', 'application/soap+xml')
      .send('<e/>')
      .expect(200);
    expect(answer.headers['content-type']).toBe('application/soap+xml');
    expect(answer.headers['content-length']).toBe('4');
    expect(answer.headers.etag).toBeUndefined();
    expect(answer.headers['x-powered-by']).toBeUndefined();
  });
});

describe('health', () => {
  it('is live as long as the process runs', async () => {
    expect(
      (
        await request(app({ health: () => new Promise(() => {}) }))
          .get('/health/live')
          .expect(200)
      ).body,
    ).toEqual({ status: 'live' });
  });

  it('is ready with what is degraded, and 503 only when a message would get 503', async () => {
    const degraded = [{ what: 'inbox', since: '2026-11-30T00:00:00Z' }];
    const ready = await request(app({ health: async () => ({ ready: true, degraded }) }))
      .get('/health/ready')
      .expect(200);
    expect(ready.body).toEqual({ status: 'ready', degraded });
    const not = await request(app({ health: async () => ({ ready: false, degraded }) }))
      .get('/health/ready')
      .expect(503);
    expect(not.body).toEqual({ status: 'unavailable', degraded });
  });

  it('that cannot be told is 503 with an incident id that the log knows', async () => {
    const logged: object[] = [];
    const err = new Error('secret');
    const log = { warn: () => {}, error: (details: object) => logged.push(details) };
    const answer = await request(app({ health: () => Promise.reject(err), log }))
      .get('/health/ready')
      .expect(503);
    expect(answer.body).toMatchObject({
      status: 'unavailable',
      degraded: [{ what: expect.stringContaining('incident id') }],
    });
    expect(answer.text).not.toContain('secret');
    expect(logged).toEqual([{ incident: 'id', err }]);
  });

  it('is read, not written', async () => {
    expect((await request(app()).post('/health/live').send('x').expect(405)).headers.allow).toBe('GET, HEAD');
  });
});

describe('metrics', () => {
  it('count in a registry of their own and are served as Prometheus text', async () => {
    const metrics = createMetrics();
    const other = createMetrics();
    metrics.message('delivered');
    metrics.refusal('EBMS:0101', 'digest-mismatch');
    metrics.door(415, 'media-type');
    metrics.step('authenticate', 1.5);
    const answer = await request(app({ metrics: metrics.text }))
      .get('/metrics')
      .expect(200);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.text).toContain('quittance_messages_total{decision="delivered"} 1');
    expect(answer.text).toContain('quittance_refusals_total{code="EBMS:0101",reason="digest-mismatch"} 1');
    expect(answer.text).toContain('quittance_door_refusals_total{status="415",reason="media-type"} 1');
    expect(answer.text).toContain('quittance_step_seconds_sum{step="authenticate"} 0.0015');
    expect(await other.text()).not.toContain('delivered');
  });

  it('leave out a number that cannot be read or does not come, also its last value, and have all others', async () => {
    const metrics = createMetrics();
    let broken = false;
    const read = (bad: () => Promise<number>) => () => (broken ? bad() : 7);
    metrics.gauge(
      'quittance_failing',
      'x',
      read(() => Promise.reject(new Error('gone'))),
    );
    metrics.gauge(
      'quittance_hung_total',
      'x',
      read(() => new Promise(() => {})),
    );
    metrics.gauges('quittance_several', 'x', 'of', async () => (broken ? Promise.reject(new Error('gone')) : { a: 7 }));
    metrics.gauge('quittance_fine', 'x', () => 7);
    const values = async () => (await metrics.text()).split('\n').filter((line) => line.endsWith(' 7'));
    expect(await values()).toHaveLength(4);
    broken = true;
    const text = await metrics.text();
    expect(text.match(/^quittance_(failing|hung_total|several|fine).*/gm)).toEqual(['quittance_fine 7']);
    broken = false;
    expect(await values()).toHaveLength(4);
  });

  it('are not there when nobody gives them', async () => {
    await request(app()).get('/metrics').expect(404);
  });
});

it('a URL that cannot be decoded is no fault of ours', async () => {
  const path = '/as4/:id';
  await request(app({ path })).get('/as4/%zz').expect(400);
});
