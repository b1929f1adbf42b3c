import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { USER_FAILURE } from './describe-failure.ts';
import { ExitWith, NO } from './exit-with.ts';

/** How long the platform may take to answer. */
const ANSWER_TIMEOUT_MS = 60_000;

/** An API key and its secret. */
export interface KeyPair {
  key: string;
  secret: string;
}

export interface Call {
  body?: { type: string; text: string };
  accept?: string;
  /** Statuses besides those below 400 that are no refusal. */
  alsoExpected?: readonly number[];
  timeoutMs?: number;
}

export interface Answer {
  status: number;
  text: string;
}

/** Speaks to a running platform over HTTP. */
export class PlatformClient {
  readonly baseUrl: string;
  readonly #keyPair: () => KeyPair | undefined;

  /** @param keyPair undefined where no credentials are to be sent; throws UserError when there should be some */
  constructor(baseUrl: string, keyPair: () => KeyPair | undefined) {
    this.baseUrl = baseUrl;
    this.#keyPair = keyPair;
  }

  /**
   * @param path below `{base_url}`, with its query
   * @throws ExitWith with a sentence when nobody answers, and for a refusal
   */
  async call(method: string, path: string, call: Call = {}): Promise<Answer> {
    const url = `${this.baseUrl}${path}`;
    const pair = this.#keyPair();
    const headers = {
      Accept: call.accept ?? 'application/json',
      ...(pair && { Authorization: `Basic ${Buffer.from(`${pair.key}:${pair.secret}`).toString('base64')}` }),
      ...(call.body && { 'Content-Type': call.body.type }),
    };
    const answer = await exchange(method, url, headers, call);
    if (answer.status < 400 || call.alsoExpected?.includes(answer.status)) return answer;
    throw new ExitWith(
      answer.status < 500 ? USER_FAILURE : NO,
      `${reasonOf(answer)} (${method} ${url}: ${answer.status})`,
    );
  }

  /** The JSON that a call is answered with; its shape is for the caller to parse. */
  async json(method: string, path: string, call: Call = {}): Promise<unknown> {
    const { text } = await this.call(method, path, call);
    try {
      return JSON.parse(text);
    } catch {
      throw new ExitWith(USER_FAILURE, `${this.baseUrl}${path} is no Terrarium: its answer is no JSON`);
    }
  }
}

async function exchange(method: string, url: string, headers: Record<string, string>, call: Call): Promise<Answer> {
  const { timeoutMs = ANSWER_TIMEOUT_MS } = call;
  const send = url.startsWith('https:') ? requestHttps : requestHttp;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { method, headers, signal: AbortSignal.timeout(timeoutMs) };
      send(url, options, resolve).on('error', reject).end(call.body?.text);
    });
    return { status: response.statusCode ?? 0, text: await readText(response) };
  } catch (failure) {
    throw new ExitWith(NO, `${url} does not answer: ${transportReason(failure, timeoutMs)}`);
  }
}

function transportReason(failure: unknown, timeoutMs: number): string {
  if (!(failure instanceof Error)) return String(failure);
  if (failure.name === 'TimeoutError' || failure.name === 'AbortError')
    return `nothing came within ${timeoutMs / 1000} s`;
  if (!('code' in failure)) return failure.message;
  if (failure.code === 'ECONNREFUSED') return 'nothing listens there';
  return failure.message || String(failure.code);
}

/** What a refusal says: D-180, D-171. */
function reasonOf({ text }: Answer): string {
  try {
    const { message, error_description: description, details } = JSON.parse(text);
    const sentence = String(message ?? description ?? 'refused');
    const places: unknown[] = Array.isArray(details) && details.length > 1 ? details : [];
    return [sentence, ...places.map((place) => `  ${Object(place).pointer} ${Object(place).message}`)].join('\n');
  } catch {
    return 'refused';
  }
}
