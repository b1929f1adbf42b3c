import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { deliveryRoutes, ScmProjectView } from '../../../../server/api/routes/delivery.ts';
import type { AnswerOf } from '../../../../server/api/routes/route.ts';
import type { PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { load, send } from '../../api/client.ts';
import { useSeesAll } from '../../api/permissions.tsx';
import { keys } from '../../api/query-client.ts';
import { useChange } from '../../api/use-change.ts';
import { useRead } from '../../api/use-read.ts';

export type { PipelineVariable } from '../../../../server/api/routes/delivery.ts';
export type PipelineProject = AnswerOf<typeof deliveryRoutes.listPipelineProjects>[number];

/** A run without its log, as `GET /inspect/pipelines` lists it. */
export type RunSummary = Omit<PipelineRun, 'log'>;

/** The project that the sample app's pipeline runs for. */
export const SAMPLE_PROJECT = 'fern-moss/shop';

/** Newest first; with a scope those that deploy to somewhere below it. */
export function useRuns(scope?: string) {
  return useQuery({
    queryKey: [keys.pipelines, 'all', ...(scope === undefined ? [] : [scope])],
    queryFn: ({ signal }) => load('/inspect/pipelines', { scope }, signal),
  });
}

export function useRun(id: string) {
  return useRead(keys.pipelines, `/inspect/pipelines/${encodeURIComponent(id)}`);
}

/** Reads the projects. The sources of their variables depend on the world, so the projects are read again with each commit. */
export function useProjects() {
  return useQuery({
    queryKey: [keys.pipelines, 'projects', useCommit()],
    queryFn: ({ signal }) => load('/inspect/scm/projects', {}, signal),
    placeholderData: keepPreviousData,
  });
}

function useCommit(): number {
  const { dataUpdatedAt } = useQuery({
    queryKey: [keys.world, 'commit of the pipelines'],
    queryFn: () => Promise.resolve(true),
  });
  return dataUpdatedAt;
}

/** Reads the mock GitLab's data of a project; undefined for users who may not view the whole platform. */
export function useScmProject(id: number): ScmProjectView | undefined {
  const { data } = useRead(keys.pipelines, '/inspect/scm', {}, { enabled: useSeesAll() });
  return data?.projects.find((project) => project.id === id);
}

export function useSampleRun(onDone?: (run: RunSummary) => void) {
  return useChange(() => send('POST', '/inspect/pipelines/demo'), { topic: keys.pipelines, ...(onDone && { onDone }) });
}

export function useRetryJob(id: string, onBegun: (run: RunSummary, job: string) => void) {
  return useChange(
    (job: string) => send('POST', `/inspect/pipelines/${encodeURIComponent(id)}/jobs/${encodeURIComponent(job)}/retry`),
    { topic: keys.pipelines, onDone: onBegun, refusal: '' },
  );
}

/** Stops a run that the platform started; its record shows when it has ended. */
export function useStopRun(id: string) {
  return useChange(() => send('POST', `/inspect/pipelines/${encodeURIComponent(id)}/stop`), {
    topic: keys.pipelines,
    refusal: '',
  });
}

/** Sets a variable of a project, or takes it away: `value` undefined. */
export function useSetVariable(projectId: number) {
  return useChange(
    ({ name, value }: { name: string; value: string | undefined }) => {
      const path = `/inspect/scm/projects/${projectId}/variables/${encodeURIComponent(name)}`;
      return value === undefined ? send('DELETE', path) : send('PUT', path, { value });
    },
    { topic: keys.pipelines },
  );
}
