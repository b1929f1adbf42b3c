import type { z } from 'zod';
import { packageFile } from '../package-file.ts';
import { PipelineDesk } from '../pipelines/desk.ts';
import { PipelineError } from '../pipelines/pipeline-error.ts';
import type { PlatformCalls } from '../pipelines/platform-calls.ts';
import { SAMPLE_DIR } from '../pipelines/sample-repository.ts';
import type { Credentials } from '../security/credentials.ts';

const ANSWER_TIMEOUT_MS = 60_000;

export interface PipelineDeskParts {
  baseUrl(): string;
  credentials: Pick<Credentials, 'createKey' | 'revokeKey'>;
  /** Ids of the root account and of its organization. */
  root(): { userId: string; orgId: string };
}

/** Runs pipelines in this process; they speak to the platform like any client, with a key of root's that ends with them. */
export function pipelineDesk({ baseUrl, credentials, root }: PipelineDeskParts): PipelineDesk {
  return new PipelineDesk({
    sampleDir: packageFile(SAMPLE_DIR),
    env: process.env,
    async open() {
      const { userId, orgId } = root();
      const { key, secret } = await credentials.createKey(userId, orgId);
      return {
        platform: callsWith(baseUrl(), `${key}:${secret}`),
        end: async () => void (await credentials.revokeKey(key)),
      };
    },
  });
}

function callsWith(baseUrl: string, pair: string): PlatformCalls {
  const text: PlatformCalls['text'] = async (method, path, { body } = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        Authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
        Accept: 'application/json',
        ...(body && { 'Content-Type': body.type }),
      },
      ...(body && { body: body.content }),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const answer = await response.text();
    if (response.ok) return answer;
    throw Object.assign(new PipelineError(`${method} ${path}: ${messageIn(answer)}`, 1), { status: response.status });
  };
  return {
    baseUrl,
    text,
    json: async <T>(method: string, path: string, schema: z.ZodType<T>, call?: Parameters<typeof text>[2]) =>
      schema.parse(JSON.parse(await text(method, path, call))),
  };
}

function messageIn(answer: string): string {
  try {
    return String(Object(JSON.parse(answer)).message ?? answer);
  } catch {
    return answer;
  }
}
