import { type KeyPair, type RefusedCall, RowClient } from '../../api/client/route-client.ts';
import { jsonIn } from '../../model/json.ts';
import { PipelineError } from './pipeline-error.ts';

const TIMEOUT_MS = 60_000;

/** Speaks to a running platform as somebody who may run pipelines there; its refusals have their `status`. */
export type PlatformCalls = Pick<RowClient, 'baseUrl' | 'ask' | 'json' | 'text'>;

export class KeyPairCalls extends RowClient {
  constructor(baseUrl: string, keyPair: KeyPair) {
    super(baseUrl, () => keyPair, { timeoutMs: TIMEOUT_MS });
  }

  protected refused({ method, path, status, text }: RefusedCall): PipelineError {
    const message = Object(jsonIn(text)).message ?? text;
    return Object.assign(new PipelineError(`${method} ${path}: ${message}`, 1), { status });
  }

  protected failed(reason: string): PipelineError {
    return new PipelineError(reason, 1);
  }
}

/** Undefined where the record that is asked for does not exist. */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((failure) => {
    if (Object(failure).status === 404) return undefined;
    throw failure;
  });
}
