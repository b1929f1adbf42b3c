import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../model/errors.ts';
import type { Lead } from './lead.ts';

const FORM = 'application/x-www-form-urlencoded';
const MAX_FORM_BYTES = 256 * 1024;

/**
 * The fields of a submitted web-to-lead form, in order. Throws 415 for another content type or encoding, 413 for a body over
 * 256 KiB, 400 for one that is not a form.
 */
export async function readLeadForm(request: IncomingMessage, query: URLSearchParams): Promise<Lead['fields']> {
  const bytes = await readBytes(request);
  checkContentType(request.headers['content-type'] ?? '', query.get('encoding'));
  const text = decode(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      return {
        name: unescapeForm(at < 0 ? pair : pair.slice(0, at)),
        value: at < 0 ? '' : unescapeForm(pair.slice(at + 1)),
      };
    });
}

/** The whole body. One that is too large is read to its end all the same: a client that still writes would never see the answer. */
async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes <= MAX_FORM_BYTES) chunks.push(chunk);
  }
  if (sizeBytes > MAX_FORM_BYTES) {
    throw new PlatformError(413, `the form has ${sizeBytes} bytes, more than the ${MAX_FORM_BYTES} that are taken`);
  }
  return Buffer.concat(chunks);
}

function checkContentType(contentType: string, encoding: string | null): void {
  const [mediaType = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (mediaType !== FORM) {
    throw new PlatformError(
      415,
      `a web-to-lead form is sent as ${FORM}, not as '${mediaType}' (set the Content-Type header)`,
    );
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  for (const name of [charset, encoding]) {
    if (name && !/^"?utf-?8"?$/i.test(name)) {
      throw new PlatformError(415, `the encoding '${name}' is not known here; send the form as UTF-8`);
    }
  }
}

function unescapeForm(text: string): string {
  return decode(() => decodeURIComponent(text.replaceAll('+', ' ')));
}

function decode(read: () => string): string {
  try {
    return read();
  } catch (cause) {
    throw new PlatformError(400, 'the form is malformed: fields must be percent-encoded UTF-8 (% itself is %25)', {
      cause,
    });
  }
}
