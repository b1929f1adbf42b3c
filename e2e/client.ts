/** An answer with its body read: JSON where it is JSON, else text. */
export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test states what it expects of the body
  body: any;
}

/** How a request authenticates: an Authorization header, made by `bearer` or `basic`. */
export type Authorization = string | undefined;

export const bearer = (token: string): string => `Bearer ${token}`;
export const basic = (key: string, secret: string): string =>
  `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;

/** Sends one request as any HTTP client would; a plain object becomes a JSON body, URLSearchParams a form. */
export async function send(
  method: string,
  url: string,
  { auth, body, headers = {} }: { auth?: Authorization; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const isRaw = typeof body === 'string' || body instanceof URLSearchParams || body instanceof Uint8Array;
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(body !== undefined && !isRaw && { 'Content-Type': 'application/json' }),
      ...(auth && { Authorization: auth }),
      ...headers,
    },
    ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: response.status, headers: response.headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}
