import { fetchInProcess } from './fetch-in-process.ts';

/** A response with its body: parsed if it is JSON, otherwise text. */
export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test states what it expects of the body
  body: any;
}

/** The Authorization header of a request, made by `bearer` or `basic`. */
export type Authorization = string | undefined;

export const bearer = (token: string): string => `Bearer ${token}`;
export const basic = (key: string, secret: string): string =>
  `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;

/** Sends one request like any HTTP client; a plain object is sent as JSON, URLSearchParams as a form. */
export async function send(
  method: string,
  url: string,
  { auth, body, headers = {} }: { auth?: Authorization; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Reply> {
  const isRaw = typeof body === 'string' || body instanceof URLSearchParams || body instanceof Uint8Array;
  const response = await fetchInProcess(url, {
    method,
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
