import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openSqliteStore } from '../../store/sqlite.ts';
import type { NewMessage, NewPayload, Store } from '../../store/types.ts';
import { type Delivery, folderDelivery } from '../delivery.ts';
import type { FolderDeliveryOptions } from '../delivery-options.ts';
import type { Metadata } from '../metadata.ts';

/** Quick enough that tests do not wait, slow enough that a busy machine is not taken for a hung one. */
const timing = { poll: 50, gather: 0, lockRetry: 20, retry: 20, retryMost: 50, hang: 10_000, patience: 5000 };

/** A database, an inbox and a staging folder in a directory of their own. */
export class Bench {
  readonly root: string;
  readonly #deliveries: Delivery[] = [];
  #store: Store | null = null;

  constructor(root = mkdtempSync(join(tmpdir(), 'quittance-delivery-'))) {
    this.root = root;
    mkdirSync(root, { recursive: true });
  }

  get inbox(): string {
    return join(this.root, 'inbox');
  }

  get staging(): string {
    return join(this.root, 'staging');
  }

  get database(): string {
    return join(this.root, 'quittance.db');
  }

  async store(): Promise<Store> {
    this.#store ??= await openSqliteStore({ url: `sqlite:${this.database}` });
    return this.#store;
  }

  async closeStore(): Promise<void> {
    await this.#store?.close();
    this.#store = null;
  }

  async options(changes: Partial<FolderDeliveryOptions> = {}): Promise<FolderDeliveryOptions> {
    return {
      outbox: (await this.store()).outbox,
      inbox: this.inbox,
      staging: this.staging,
      lockFile: `${this.database}.delivery-lock`,
      newId: randomUUID,
      bootId: 'boot-1',
      ...changes,
      timing: { ...timing, ...changes.timing },
    };
  }

  async delivery(changes: Partial<FolderDeliveryOptions> = {}): Promise<Delivery> {
    const delivery = folderDelivery(await this.options(changes));
    this.#deliveries.push(delivery);
    return delivery;
  }

  /** Starts a delivery, waits until nothing is waiting, and stops it. */
  async deliver(changes: Partial<FolderDeliveryOptions> = {}): Promise<void> {
    const delivery = await this.delivery(changes);
    await delivery.start();
    await delivery.idle();
    await delivery.stop();
  }

  async accept(...messages: readonly NewMessage[]): Promise<void> {
    const store = await this.store();
    const outcomes = await Promise.all(messages.map((message) => store.accept(message)));
    for (const { kind } of outcomes) if (kind !== 'accepted') throw new Error(`test message was ${kind}`);
  }

  /** Names in the inbox, without the marker. */
  entries(folder = this.inbox): string[] {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.'))
      .sort();
  }

  metadata(entry: string): Metadata {
    return JSON.parse(readFileSync(join(this.inbox, entry, 'metadata.json'), 'utf8')) as Metadata;
  }

  async close(): Promise<void> {
    for (const delivery of this.#deliveries) await delivery.stop();
    await this.closeStore();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** A StandardBusinessDocument whose invoice inherits a namespace from it. */
export function sbd(document = '<Invoice xmlns="urn:test:Invoice"><inherited:note/></Invoice>', bytes = 0): Buffer {
  const scope = (type: string, value: string, scheme = ''): string =>
    `<Scope><Type>${type}</Type><InstanceIdentifier>${value}</InstanceIdentifier>${scheme ? `<Identifier>${scheme}</Identifier>` : ''}</Scope>`;
  const party = (name: string, value: string): string =>
    `<${name}><Identifier Authority="iso6523-actorid-upis">${value}</Identifier></${name}>`;
  const head =
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    '<StandardBusinessDocument xmlns="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader" xmlns:inherited="urn:test:inherited">' +
    `<StandardBusinessDocumentHeader><HeaderVersion>1.0</HeaderVersion>${party('Sender', '0192:111')}${party('Receiver', '0192:222')}` +
    '<DocumentIdentification><Standard>urn:test:Invoice</Standard><TypeVersion>2.1</TypeVersion><InstanceIdentifier>i-1</InstanceIdentifier>' +
    '<Type>Invoice</Type><CreationDateAndTime>2026-11-30T10:00:00Z</CreationDateAndTime></DocumentIdentification><BusinessScope>' +
    `${scope('DOCUMENTID', 'doc', 'busdox-docid-qns')}${scope('PROCESSID', 'proc', 'cenbii-procid-ubl')}${scope('COUNTRY_C1', 'DE')}` +
    '</BusinessScope></StandardBusinessDocumentHeader>';
  const tail = '</StandardBusinessDocument>';
  const lacking = bytes - head.length - document.length - tail.length;
  const padded =
    lacking <= 0 ? document : document.replace('<inherited:note/>', `<inherited:note/>${padding(lacking)}`);
  return Buffer.from(`${head}${padded}${tail}`);
}

/** Elements that look like an invoice's lines and do not compress to nothing. */
function padding(bytes: number): string {
  let text = '';
  for (let line = 1; text.length < bytes; line++) {
    text += `<Line><ID>${line}</ID><Amount currencyID="EUR">${(line * 7919) % 100_003}.00</Amount><Item>${randomUUID()}</Item></Line>\n`;
  }
  return text;
}

export function payload(content: Buffer, changes: Partial<NewPayload> = {}): NewPayload {
  const compressed = changes.compressed ?? true;
  const data = compressed ? gzipSync(content) : content;
  return {
    href: `cid:${randomUUID()}`,
    mimeType: 'application/xml',
    characterSet: 'UTF-8',
    compressed,
    properties: [{ name: 'MimeType', type: null, value: changes.mimeType ?? 'application/xml' }],
    sha256: Buffer.alloc(32, 7),
    bytes: data.length,
    data,
    ...changes,
  };
}

export function message(messageId: string = randomUUID(), changes: Partial<NewMessage> = {}): NewMessage {
  const receivedAt = Date.UTC(2026, 10, 30, 10, 15, 0, 123);
  const participant = (value: string) => ({ scheme: 'iso6523-actorid-upis', value });
  return {
    sender: 'POP000001',
    messageId,
    purpose: 'deliver',
    ebTimestamp: receivedAt,
    ebTimestampText: new Date(receivedAt).toISOString(),
    receivedAt,
    window: 90 * 86_400_000,
    policyVersion: '1',
    referenceSet: Buffer.alloc(32, 1),
    contentDigest: Buffer.alloc(32, 2),
    payloads: [payload(sbd())],
    routing: {
      service: 'proc',
      serviceType: 'cenbii-procid-ubl',
      action: 'busdox-docid-qns::doc',
      conversationId: 'conversation-1',
      originalSender: participant('0192:111'),
      finalRecipient: participant('0192:222'),
      documentType: { scheme: 'busdox-docid-qns', value: 'doc' },
      process: { scheme: 'cenbii-procid-ubl', value: 'proc' },
      instanceIdentifier: 'i-1',
      sbdhCreationDateAndTime: '2026-11-30T10:00:00Z',
      countryC1: 'DE',
      messageProperties: [{ name: 'originalSender', type: 'iso6523-actorid-upis', value: '0192:111' }],
    },
    rule: 'default',
    conflict: 'reject',
    outsideWindow: 'deliver',
    staleTimestamp: 'deliver',
    interchanges: { keys: [], onConflict: 'review', replacePending: false },
    warnings: ['a warning'],
    signer: { fingerprint: 'ab'.repeat(32), chain: [Buffer.from('certificate')] },
    envelope: Buffer.from('<envelope/>'),
    receipt: { status: 200, contentType: 'application/soap+xml', body: Buffer.from('<receipt/>') },
    requestDigest: null,
    remoteAddress: '127.0.0.1',
    rebuilt: 'own-receipt',
    ...changes,
  };
}
