import { z } from 'zod';
import { COMMIT_HEADER } from '../../model/commit.ts';
import { reasonOf } from '../../model/errors.ts';
import { jsonIn } from '../../model/json.ts';
import { requestText, within } from '../client/send-request.ts';
import { namesIn, type Route } from '../routes/route.ts';

/** Longer than the longest wait that a route offers (`waitS`). */
const TIMEOUT_MS = 90_000;
const MAX_ANSWER_BYTES = 16_000_000;

/** Values by the names of path and query parameters, and `body`. */
export type Arguments = Readonly<Record<string, unknown>>;

export interface ToolResponse {
  /** The JSON of the response; text if it is not JSON, null if there is none. */
  value: unknown;
  /** The numbers of the commits that the request made. */
  commits: number[];
}

/** Calls the routes of a platform for tools, with the credentials of the tools' user. */
export class ToolClient {
  readonly baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param authorization value of the header; undefined to send no credentials */
  constructor(baseUrl: string, authorization: string | undefined) {
    this.baseUrl = baseUrl;
    this.#headers = {
      'X-Terrarium-Client': 'mcp',
      ...(authorization !== undefined && { Authorization: authorization }),
    };
  }

  /**
   * Sends a request of a route.
   *
   * @param input values of its path parameters, query parameters and body; others are ignored
   * @throws Error, a sentence for the user of the tools: a value is missing or invalid, the platform returned an error or nothing
   */
  async send(route: Route, input: Arguments): Promise<ToolResponse> {
    const [verb = ''] = route.route.split(' ');
    const url = `${this.baseUrl}${addressOf(route, input)}`;
    const hasBody = route.body !== undefined && input.body !== undefined;
    const response = await requestText(url, {
      method: verb.toUpperCase(),
      headers: { ...this.#headers, Accept: '*/*', ...(hasBody && { 'Content-Type': 'application/json' }) },
      body: hasBody ? JSON.stringify(input.body) : undefined,
      limits: { ...within(TIMEOUT_MS), bytes: MAX_ANSWER_BYTES },
      linkLocal: 'all',
    }).catch((cause: unknown) => {
      throw new Error(
        `${this.baseUrl} did not respond completely: ${reasonOf(cause)}. If the platform has stopped, start it again; if the response is too large, ask for less.`,
        { cause },
      );
    });
    const { status, headers, text } = response;
    if (status >= 300) throw new Error(`${failureIn(text)} (${route.route}: ${status})`);
    const list = headers[COMMIT_HEADER.toLowerCase()];
    return {
      value: text === '' ? null : (jsonIn(text) ?? text),
      commits: list ? String(list).split(',').map(Number) : [],
    };
  }
}

/** The path of a request below `{base_url}`, with its query. Throws Error for a missing or invalid value. */
export function addressOf(route: Route, input: Arguments): string {
  const [, pattern = ''] = route.route.split(' ');
  const path = namesIn(pattern).reduce((text, name) => {
    const value = scalarText(name, input[name]);
    // A client would resolve dots, and request another route.
    if (/^\.{0,2}$/.test(value)) throw new Error(`'${name}' must not be '${value}'`);
    return text.replace(`{${name}}`, () => encodeURIComponent(value));
  }, pattern);
  const query = Object.keys(route.query ?? {}).flatMap((name) =>
    [input[name] ?? []].flat().map((value): [string, string] => [name, scalarText(name, value)]),
  );
  return query.length > 0 ? `${path}?${new URLSearchParams(query)}` : path;
}

function scalarText(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error(value === undefined ? `'${name}' is required` : `'${name}' must be a text, a number, true or false`);
}

const failureSchema = z.object({
  message: z.string(),
  reason: z.string().optional(),
  details: z.array(z.object({ pointer: z.string(), message: z.string() })).default([]),
});

function failureIn(text: string): string {
  const { success, data } = failureSchema.safeParse(jsonIn(text));
  if (!success) return text.slice(0, 500) || 'the request failed';
  const details = data.details.map(({ pointer, message }) => `; ${pointer} ${message}`).join('');
  return `${data.reason === undefined ? '' : `${data.reason}: `}${data.message}${details}`;
}
