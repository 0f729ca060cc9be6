import { createPrivateKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import * as pkijs from 'pkijs';
import { beforeAll, describe, expect, test } from 'vitest';
import { certDer, certFile } from '../../certs/read.ts';
import { readCertificate } from './certificate.ts';
import { DerReader, TAG } from './der.ts';
import { PkiError } from './errors.ts';
import { judgeOcspResponse, type OcspContext } from './ocsp-answer.ts';
import { askAbout } from './ocsp-question.ts';
import { opensslAnswer } from './testing/openssl-ocsp.ts';

const read = (name: string) => readCertificate(certDer(name));
const sender = read('sender');
const ca = read('ap-ca');
const question = askAbout(sender, ca);
const MINUTE = 60_000;
const DAY = 86_400_000;
let answer: Buffer;

beforeAll(() => {
  answer = opensslAnswer(question.request, { good: [sender] });
});

function judge(der: Buffer, o: Partial<OcspContext> = {}) {
  return judgeOcspResponse(der, { question, issuer: ca, at: Date.now(), isRevoked: () => false, ...o });
}

test('PKI.js reads our request as we mean it', async () => {
  const request = pkijs.OCSPRequest.fromBER(new Uint8Array(question.request));
  const certId = new pkijs.CertID();
  await certId.createForCertificate(pkijs.Certificate.fromBER(new Uint8Array(sender.der)), {
    hashAlgorithm: 'SHA-1',
    issuerCertificate: pkijs.Certificate.fromBER(new Uint8Array(ca.der)),
  });
  expect(request.tbsRequest.requestList[0]?.reqCert.isEqual(certId)).toBe(true);
});

describe('OpenSSL answers', () => {
  test.each([
    ['good', { good: [sender] }],
    ['revoked', { revoked: [sender] }],
    ['unknown', {}],
  ] as const)('%s', (status, known) => {
    const judged = judge(opensslAnswer(question.request, known));
    expect(judged.status).toBe(status);
    expect(judged.until).toBeGreaterThan(Date.now() + DAY / 2);
  });

  test.each([
    ['by the CA itself', { signer: 'ap-ca' }],
    ['by a responder that names itself by its key', { more: ['-resp_key_id'] }],
  ])('signed %s', (_, o) => {
    expect(judge(opensslAnswer(question.request, { good: [sender], ...o })).status).toBe('good');
  });

  test('and PKI.js verifies and reads the same answer', async () => {
    const [certificate, issuerCertificate] = [sender, ca].map(({ der }) =>
      pkijs.Certificate.fromBER(new Uint8Array(der)),
    ) as [pkijs.Certificate, pkijs.Certificate];
    const response = pkijs.OCSPResponse.fromBER(new Uint8Array(answer));
    expect(await response.getCertificateStatus(certificate, issuerCertificate)).toEqual({
      isForCertificate: true,
      status: 0,
    });
  });
});

describe('an answer proves nothing', () => {
  const refuses = (der: Buffer, why: RegExp, o: Partial<OcspContext> = {}) => {
    expect(() => judge(der, o)).toThrow(why);
    expect(() => judge(der, o)).toThrow(PkiError);
  };

  test('after its nextUpdate', () => {
    refuses(answer, /ended on/, { at: Date.now() + 2 * DAY });
  });

  test('before its thisUpdate, but for a clock that is five minutes ahead', () => {
    expect(judge(answer, { at: Date.now() - 4 * MINUTE }).status).toBe('good');
    refuses(answer, /in the future/, { at: Date.now() - 10 * MINUTE });
  });

  test('about another certificate of the same CA', () => {
    refuses(answer, /about another certificate/, { question: askAbout(read('sender-2'), ca) });
  });

  test('about the same serial number of another CA', () => {
    const otherCa = { ...question, issuerKeyHash: askAbout(sender, read('smp-ca')).issuerKeyHash };
    refuses(answer, /about another certificate/, { question: otherCa });
    const otherName = { ...question, issuerNameHash: askAbout(sender, read('smp-ca')).issuerNameHash };
    refuses(answer, /about another certificate/, { question: otherName });
  });

  test('signed by a responder of another CA', () => {
    refuses(opensslAnswer(question.request, { good: [sender], signer: 'other-ocsp' }), /did not issue/);
  });

  test('signed by an access point of the CA: its certificate is not for OCSP', () => {
    refuses(opensslAnswer(question.request, { good: [sender], signer: 'sender-2' }), /may not sign OCSP/);
  });

  test('signed by the CA of other certificates, or by nobody whose certificate is there', () => {
    refuses(opensslAnswer(question.request, { good: [sender], signer: 'smp-ca' }), /did not issue/);
    refuses(opensslAnswer(question.request, { good: [sender], more: ['-resp_no_certs'] }), /is not there/);
  });

  test('signed by a responder that has been revoked, or whose certificate is not valid at the time', () => {
    refuses(answer, /has been revoked/, { isRevoked: ({ fingerprint }) => fingerprint === read('ocsp').fingerprint });
    refuses(answer, /is not valid now/, { at: Date.parse('2048-01-01') });
  });

  test('that only says why there is none', () => {
    refuses(Buffer.from('30030a0106', 'hex'), /unauthorized/);
    refuses(Buffer.from('30030a0103', 'hex'), /tryLater/);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a web page', Buffer.from('<html>')],
    ['a certificate', certDer('sender')],
    ['half of itself', Buffer.from('3082')],
  ])('that is %s', (_, der) => {
    refuses(der, /The OCSP response/);
  });

  test('with any octet changed: it is refused with PkiError, or says the same', () => {
    const honest = judge(answer);
    fc.assert(
      fc.property(fc.nat(answer.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const changed = Buffer.from(answer);
        changed[at] = (changed[at] as number) ^ mask;
        try {
          expect(judge(changed)).toEqual(honest);
        } catch (fault) {
          expect(fault).toBeInstanceOf(PkiError);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('when its status is changed from revoked to good and somebody else signs it anew', () => {
    const reader = new DerReader('bad-ocsp', 'x');
    const bad = opensslAnswer(question.request, { revoked: [sender] });
    const [, tagged] = reader.inside(reader.one(bad), TAG.sequence);
    const [, response] = reader.inside(reader.inside(tagged, 0xa0)[0], TAG.sequence);
    const [tbs, , signature] = reader.inside(reader.one(reader.content(response, TAG.octetString)), TAG.sequence);
    const forged = Buffer.from(bad);
    const key = createPrivateKey(readFileSync(certFile('other-ocsp.key')));
    const value = sign('sha256', tbs!.whole, key);
    value.copy(forged, bad.indexOf(signature!.content.subarray(1)));
    refuses(forged, /wrong signature/);
  });
});
