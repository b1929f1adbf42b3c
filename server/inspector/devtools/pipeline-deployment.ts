import { z } from 'zod';
import type { ExchangeRecord } from '../../model/exchange-record.ts';
import { jsonIn } from '../../model/json.ts';
import type { PipelineDeployment, PipelineRun } from '../../model/pipeline-run.ts';

const MAX_PROBLEM_CHARACTERS = 2_000;

/** The parts of a deployment endpoint's request and response that are shown; users can have their own endpoints. */
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

/** The request as a deployment of the run; undefined when the run did not cause it. */
export function deploymentIn(exchange: ExchangeRecord, run: PipelineRun): PipelineDeployment | undefined {
  const { atMs, durationMs, status, target, endpointId, executionId } = exchange;
  if (exchange.plane !== 'gateway' || run.deployUrl === undefined || atMs < run.startedAtMs) return undefined;
  const path = target.split('?', 1)[0] ?? '';
  if (path !== new URL(run.deployUrl).pathname) return undefined;
  const requestedDeployment = requestBody.safeParse(jsonIn(new TextDecoder().decode(exchange.requestBody?.bytes))).data;
  // By another key, such as one of the project, only the body tells several runs apart.
  const isOther =
    (requestedDeployment?.sha ?? run.sha) !== run.sha || (requestedDeployment?.ref ?? run.branch) !== run.branch;
  const isByKey = run.apiKey !== undefined && exchange.apiKey === run.apiKey;
  if (!isByKey && isOther) return undefined;
  const reported = answerBody.safeParse(jsonIn(new TextDecoder().decode(exchange.responseBody?.bytes))).data ?? {};
  // A lambda that knows no HTTP says in its answer what went wrong.
  const isRefused = (status ?? 500) >= 400 || (reported.code ?? 0) >= 400;
  const problem = reported.message ?? `it answered ${status ?? 'nothing'}`;
  return {
    atMs,
    durationMs,
    target: path,
    status,
    code: reported.code,
    action: reported.action ?? requestedDeployment?.action,
    image: requestedDeployment?.image,
    endpointId,
    executionId,
    container: reported.container && { id: reported.container.id, name: reported.container.name },
    published: reported.endpoint && { id: reported.endpoint.id, url: reported.endpoint.public_url },
    noteId: reported.scm?.merge_request_note_id,
    isEnvironmentTold: reported.scm?.environment_url_updated,
    problem: isRefused ? problem.slice(0, MAX_PROBLEM_CHARACTERS) : undefined,
  };
}
