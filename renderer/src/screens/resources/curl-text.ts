import { addressOf, type Query } from '../../api/client.ts';
import { quoted } from '../../api/curl.ts';
/** A request as one would send it from a shell. */
export interface ShownRequest {
  method: string;
  /** From the root of the server, e.g. `/meta/root/users`. */
  path: string;
  query?: Query;
  body?: unknown;
}

/** The request as a curl command; the key pair is taken from the variables that `terrarium exec` sets. */
export function curlText({ method, path, query = {}, body }: ShownRequest, baseUrl: string): string {
  const lines = [
    `curl -X ${method} ${quoted(`${baseUrl}${addressOf(path, query)}`)}`,
    '-u "$PLATFORM_API_KEY:$PLATFORM_API_SECRET"',
  ];
  if (body !== undefined) {
    const type = method === 'PATCH' && Array.isArray(body) ? 'application/json-patch+json' : 'application/json';
    lines.push(`-H ${quoted(`Content-Type: ${type}`)}`, `-d ${quoted(JSON.stringify(body, null, 2))}`);
  }
  return lines.join(' \\\n  ');
}
