import type { IncomingMessage } from 'node:http';
import { readWholeBody } from '../../api/server/whole-body.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Lead } from './lead.ts';

const FORM = 'application/x-www-form-urlencoded';
const MAX_FORM_BYTES = 256 * 1024;

/**
 * The fields of a submitted web-to-lead form, in order. Throws 415 for another content type or encoding of a body, 413 for a body over 256
 * KiB, 400 for an invalid form.
 */
export async function readLeadForm(request: IncomingMessage, query: URLSearchParams): Promise<Lead['fields']> {
  const bytes = await readWholeBody(request, MAX_FORM_BYTES);
  // Without a body, a missing field is the reason.
  if (bytes.length > 0) checkContentType(request.headers['content-type'] ?? '', query.get('encoding'));
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity')
    throw new PlatformError(
      'unsupported_media_type',
      `the form has the Content-Encoding '${encoding}'. Send it uncompressed, without this header.`,
    );
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

function checkContentType(contentType: string, encoding: string | null): void {
  const [mediaType = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (mediaType !== FORM) {
    throw new PlatformError(
      'unsupported_media_type',
      `${mediaType === '' ? 'the form has no content type' : `the content type '${mediaType}' is not supported`}. Send a web-to-lead form as ${FORM} and set the Content-Type header.`,
    );
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  for (const name of [charset, encoding]) {
    if (name && !/^"?utf-?8"?$/i.test(name)) {
      throw new PlatformError(
        'unsupported_media_type',
        `the encoding '${name}' is not supported. Send the form as UTF-8.`,
      );
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
    throw new PlatformError(
      'invalid_body',
      'the form is malformed: fields must be percent-encoded UTF-8 (% itself is %25)',
      {
        cause,
      },
    );
  }
}
