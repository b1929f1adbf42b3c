import { createHash } from 'node:crypto';
import type { JsonObject } from '../../model/json.ts';

/** The addresses of the platform for a reader of the document, without trailing slashes. */
export interface DocumentAddresses {
  /** `{base_url}` */
  baseUrl: string;
  /** `{gateway_url}` */
  gatewayUrl: string;
}

/** Placeholders for the addresses, the only part that differs between readers. The host name cannot exist (RFC 6761). */
const PLACEHOLDERS = { baseUrl: 'http://base-url.invalid', gatewayUrl: 'http://gateway-url.invalid' };

/** The document as JSON. Creating it is slow, so it is created once and the addresses are filled in per reader. */
export class DocumentText {
  readonly #text: string;
  readonly #hash: string;

  constructor(make: (addresses: DocumentAddresses) => JsonObject) {
    this.#text = JSON.stringify(make(PLACEHOLDERS));
    this.#hash = hashOf(this.#text);
  }

  /** The entity tag (RFC 9110, 8.8.3) of the result of `read`. */
  tag({ baseUrl, gatewayUrl }: DocumentAddresses): string {
    return `"${hashOf([this.#hash, baseUrl, gatewayUrl].join(' '))}"`;
  }

  read({ baseUrl, gatewayUrl }: DocumentAddresses): string {
    return this.#text
      .replaceAll(PLACEHOLDERS.baseUrl, () => withinJson(baseUrl))
      .replaceAll(PLACEHOLDERS.gatewayUrl, () => withinJson(gatewayUrl));
  }
}

function withinJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
