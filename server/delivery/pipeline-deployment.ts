import { z } from 'zod';
import type { ExchangeRecord } from '../model/exchange-record.ts';
import { jsonIn } from '../model/json.ts';
import type { PipelineDeployment, PipelineRun } from '../model/pipeline-run.ts';

const MAX_PROBLEM_CHARACTERS = 2_000;

/** What a deployment endpoint is sent and answers, as far as it is shown; people write their own ones. */
const requestBody = z.looseObject({
  action: z.enum(['deploy', 'stop']).optional().catch(undefined),
  image: z.string().optional().catch(undefined),
  ref: z.string().optional().catch(undefined),
  sha: z.string().optional().catch(undefined),
});
const answerBody = z.looseObject({
  action: z.enum(['deploy', 'stop']).optional().catch(undefined),
  container: z.looseObject({ id: z.string(), name: z.string() }).optional().catch(undefined),
  endpoint: z.looseObject({ id: z.string(), public_url: z.string() }).optional().catch(undefined),
  scm: z
    .looseObject({ environment_url_updated: z.boolean().optional(), merge_request_note_id: z.int().optional() })
    .optional()
    .catch(undefined),
  code: z.int().optional().catch(undefined),
  message: z.string().optional().catch(undefined),
});

/** The API key that a request was made with; never its secret. */
export function keyOf({ requestHeaders }: ExchangeRecord): string | undefined {
  const at = requestHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'authorization');
  const [, pair] = /^basic\s+(\S+)$/i.exec(requestHeaders[at + 1] ?? '') ?? [];
  return at < 0 || pair === undefined ? undefined : Buffer.from(pair, 'base64').toString().split(':', 1)[0];
}

/** The request as a deployment of the run; undefined when the run did not cause it. */
export function deploymentIn(exchange: ExchangeRecord, run: PipelineRun): PipelineDeployment | undefined {
  const { atMs, durationMs, status, target, endpointId, executionId } = exchange;
  if (exchange.plane !== 'gateway' || run.deployUrl === undefined || atMs < run.startedAtMs) return undefined;
  const path = target.split('?', 1)[0] ?? '';
  if (path !== new URL(run.deployUrl).pathname) return undefined;
  const asked = requestBody.safeParse(jsonIn(new TextDecoder().decode(exchange.requestBody?.bytes))).data;
  // What was refused before its body was read names nothing; of several pipelines at a time each names its own commit.
  if (asked?.sha !== undefined && asked.sha !== run.sha) return undefined;
  if (asked?.ref !== undefined && asked.ref !== run.branch) return undefined;
  const told = answerBody.safeParse(jsonIn(new TextDecoder().decode(exchange.responseBody?.bytes))).data ?? {};
  const action = told.action ?? asked?.action;
  // A lambda that knows no HTTP says in its answer what went wrong.
  const isRefused = (status ?? 500) >= 400 || (told.code ?? 0) >= 400;
  return {
    atMs,
    durationMs,
    target: path,
    ...(status !== undefined && { status }),
    ...(told.code !== undefined && { code: told.code }),
    ...(action !== undefined && { action }),
    ...(asked?.image !== undefined && { image: asked.image }),
    ...(endpointId !== undefined && { endpointId }),
    ...(executionId !== undefined && { executionId }),
    ...(told.container && { container: { id: told.container.id, name: told.container.name } }),
    ...(told.endpoint && { published: { id: told.endpoint.id, url: told.endpoint.public_url } }),
    ...(told.scm?.merge_request_note_id !== undefined && { noteId: told.scm.merge_request_note_id }),
    ...(told.scm?.environment_url_updated !== undefined && { isEnvironmentTold: told.scm.environment_url_updated }),
    ...(isRefused && {
      problem: (told.message ?? `it answered ${status ?? 'nothing'}`).slice(0, MAX_PROBLEM_CHARACTERS),
    }),
  };
}
