import { deliveryRows } from '../contract/delivery.ts';
import { RowClient, type Sent } from '../contract/row-client.ts';
import { jsonIn } from '../model/json.ts';
import { PipelineError } from './pipeline-error.ts';

/** How long the platform may take to answer. */
const ANSWER_TIMEOUT_MS = 60_000;

/** Speaks to a running platform as somebody who may run pipelines there; its refusals have their `status`. */
export type PlatformCalls = Pick<RowClient, 'baseUrl' | 'ask' | 'json' | 'text'>;

/** Speaks to the platform at an address with a key pair. */
export class KeyPairCalls extends RowClient {
  readonly baseUrl: string;
  readonly #authorization: string;

  constructor(baseUrl: string, { key, secret }: { key: string; secret: string }) {
    super();
    this.baseUrl = baseUrl;
    this.#authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`;
  }

  async text(method: string, path: string, { body }: Sent = {}): Promise<string> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        Authorization: this.#authorization,
        Accept: 'application/json',
        ...(body && { 'Content-Type': body.type }),
      },
      ...(body && { body: body.content }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const answer = await response.text();
    if (response.ok) return answer;
    const message = Object(jsonIn(answer)).message ?? answer;
    throw Object.assign(new PipelineError(`${method} ${path}: ${message}`, 1), { status: response.status });
  }

  protected notUnderstood(reason: string): PipelineError {
    return new PipelineError(reason, 1);
  }
}

/** Where the source-control server is, and what opens it; throws PipelineError for whoever may not know. */
export async function scmOf(platform: PlatformCalls): Promise<{ url: string; apiUrl: string; token: string }> {
  const { url, apiUrl, token } = await platform.ask(deliveryRows.readScm);
  if (token === undefined) throw new PipelineError('pipelines are for the root user: give the key of one of its pairs');
  return { url, apiUrl, token };
}
