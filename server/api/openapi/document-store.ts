import { createHash } from 'node:crypto';
import type { JsonObject } from '../../model/json.ts';

/** The addresses of the platform for a reader of the document, without trailing slashes. */
export interface DocumentAddresses {
  /** `{base_url}` */
  baseUrl: string;
  /** `{gateway_url}` */
  gatewayUrl: string;
}

interface StoredDocument {
  /** The entity tag (RFC 9110, 8.8.3). */
  tag: string;
  body: Buffer;
}

/** Placeholders for the addresses, the only part that differs between readers. The host name cannot exist (RFC 6761). */
const PLACEHOLDERS = { baseUrl: 'http://base-url.invalid', gatewayUrl: 'http://gateway-url.invalid' };
/** Readers use few names of the platform. Each document has about a megabyte. */
export const MAX_STORED_DOCUMENTS = 8;

/** The document as JSON: created once, which is slow, and kept as bytes for each of the latest pairs of addresses. */
export class DocumentStore {
  readonly #create: (addresses: DocumentAddresses) => JsonObject;
  #template: string | undefined;
  /** The least recently read one comes first. */
  readonly #documents = new Map<string, StoredDocument>();

  constructor(create: (addresses: DocumentAddresses) => JsonObject) {
    this.#create = create;
  }

  read(addresses: DocumentAddresses): StoredDocument {
    const key = JSON.stringify([addresses.baseUrl, addresses.gatewayUrl]);
    const document = this.#documents.get(key) ?? this.#fill(addresses);
    this.#documents.delete(key);
    this.#documents.set(key, document);
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > MAX_STORED_DOCUMENTS && oldest !== undefined) this.#documents.delete(oldest);
    return document;
  }

  #fill({ baseUrl, gatewayUrl }: DocumentAddresses): StoredDocument {
    this.#template ??= JSON.stringify(this.#create(PLACEHOLDERS));
    const text = this.#template
      .replaceAll(PLACEHOLDERS.baseUrl, () => withinJson(baseUrl))
      .replaceAll(PLACEHOLDERS.gatewayUrl, () => withinJson(gatewayUrl));
    const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
    return { tag, body: Buffer.from(text) };
  }
}

function withinJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
