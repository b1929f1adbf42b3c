import { randomUUID } from 'node:crypto';
import { PipelineRuns } from '../delivery/pipeline-runs.ts';
import type { ScmProject } from '../standins/scm/scm-state.ts';
import type { Data } from './data.ts';
import type { Watch } from './watch.ts';

/** Values that no log shows. */
export const maskedValues = (project: ScmProject | undefined) =>
  (project?.variables ?? []).filter(({ masked }) => masked).map(({ value }) => value);

/** The runs of pipelines, as they are kept; those that were under way when the platform ended are ended. */
export async function keptPipelineRuns({
  data,
  watch,
  nowMs,
  onFault,
}: {
  data: Data;
  watch: Watch;
  nowMs(): number;
  onFault(fault: unknown): void;
}): Promise<PipelineRuns> {
  const secretsOf = (projectId: number) => maskedValues(data.scm.get(String(projectId)));
  const runs = new PipelineRuns({
    log: data.pipelines,
    nowMs,
    newId: randomUUID,
    secretsOf,
    onChange: watch.onPipelineRun,
    onDeployment: watch.onDeployment,
  });
  await runs.settle();
  watch.hearExchanges((exchange) => runs.sawExchange(exchange).catch(onFault));
  return runs;
}
