import { COMMIT_HEADER } from '../../model/commit.ts';
import { reasonOf } from '../../model/errors.ts';
import { jsonIn } from '../../model/json.ts';
import { requestText, within } from '../client/send-request.ts';
import type { Route } from '../routes/route.ts';
import { errorForms } from '../schemas/forms.ts';

/** Longer than the longest wait that a route offers (`waitS`). */
const TIMEOUT_MS = 90_000;
const MAX_ANSWER_BYTES = 16_000_000;

/** Values by the names of path and query parameters, and `body`. */
export type Arguments = Readonly<Record<string, unknown>>;

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

  /** Returns the JSON of a route's response; text if it is not JSON, null if there is none. Throws as `send` does. */
  async value(route: Route, input: Arguments): Promise<unknown> {
    return (await this.send(route, input)).value;
  }

  /**
   * Sends a request, and returns the value of the response and the numbers of the commits that it made. Throws Error with a sentence for the
   * user of the tools. @param input values of path parameters, query parameters and body; others are ignored
   */
  async send(route: Route, input: Arguments): Promise<{ value: unknown; commits: number[] }> {
    const [verb = ''] = route.route.split(' ');
    const hasBody = route.body !== undefined && input.body !== undefined;
    const response = await requestText(`${this.baseUrl}${addressOf(route, input)}`, {
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
    const commits = headers[COMMIT_HEADER.toLowerCase()];
    return {
      value: text === '' ? null : (jsonIn(text) ?? text),
      commits: commits ? String(commits).split(',').map(Number) : [],
    };
  }
}

/** The path of a request below `{base_url}`, with its query. Throws Error for a missing or invalid value. */
export function addressOf({ route, query = {} }: Route, input: Arguments): string {
  const path = route.slice(route.indexOf('/')).replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = scalarText(name, input[name]);
    // A client would resolve dots, and request another route.
    if (/^\.{0,2}$/.test(value)) throw new Error(`'${name}' must not be '${value}'`);
    return encodeURIComponent(value);
  });
  const parameters = new URLSearchParams(
    Object.keys(query).flatMap((name) =>
      [input[name] ?? []].flat().map((value): [string, string] => [name, scalarText(name, value)]),
    ),
  );
  return parameters.size > 0 ? `${path}?${parameters}` : path;
}

function scalarText(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Error(value === undefined ? `'${name}' is required` : `'${name}' must be a text, a number, true or false`);
}

const refusal = errorForms.PlatformError.partial({ code: true, reason: true });

function failureIn(text: string): string {
  const { success, data } = refusal.safeParse(jsonIn(text));
  if (!success) return text.slice(0, 500) || 'the request failed';
  const { reason, message, details = [] } = data;
  return [reason && `${reason}: `, message, ...details.map((fault) => `; ${fault.pointer} ${fault.message}`)].join('');
}
