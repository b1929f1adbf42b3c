/** A request as one would send it from a shell. */
export interface ShownRequest {
  method: string;
  /** From the root of the server, e.g. `/meta/root/users`. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
}

/** The request as a curl command; the key pair is taken from the variables that `terrarium exec` sets. */
export function curlText({ method, path, query = {}, body }: ShownRequest, baseUrl: string): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
  const text = parameters.toString();
  const lines = [
    `curl -X ${method} ${quoted(`${baseUrl}${path}${text === '' ? '' : `?${text}`}`)}`,
    '-u "$PLATFORM_API_KEY:$PLATFORM_API_SECRET"',
  ];
  if (body !== undefined) {
    const type = method === 'PATCH' && Array.isArray(body) ? 'application/json-patch+json' : 'application/json';
    lines.push(`-H ${quoted(`Content-Type: ${type}`)}`, `-d ${quoted(JSON.stringify(body, null, 2))}`);
  }
  return lines.join(' \\\n  ');
}

/** A text as one word of a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
