import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import type { deliveryRows, ShownScmProject } from '../../../../server/contract/delivery.ts';
import type { AnswerOf } from '../../../../server/contract/row.ts';
import type { PipelineRun } from '../../../../server/model/pipeline-run.ts';
import { load, send } from '../../api/client.ts';
import { failureOf } from '../../api/failure.ts';
import { keys, queryClient } from '../../api/query-client.ts';
import { toast } from '../../parts/toasts.tsx';

export type { PipelineVariable } from '../../../../server/contract/delivery.ts';
export type PipelineProject = AnswerOf<typeof deliveryRows.listPipelineProjects>[number];

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

/** One run with its log. */
export function useRun(id: string) {
  return useQuery({
    queryKey: [keys.pipelines, 'run', id],
    queryFn: ({ signal }) => load(`/inspect/pipelines/${encodeURIComponent(id)}`, {}, signal),
  });
}

/** What gives a project's variables depends on the world, too: it is read anew with each commit. */
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

/** What the source-control stand-in keeps of a project. */
export function useScmProject(id: number): ShownScmProject | undefined {
  const { data } = useQuery({
    queryKey: [keys.pipelines, 'scm'],
    queryFn: ({ signal }) => load('/inspect/scm', {}, signal),
  });
  return data?.projects.find((project) => project.id === id);
}

/** Begins the sample app's pipeline. */
export function useSampleRun(onBegun: (run: RunSummary) => void) {
  return useMutation({
    mutationFn: () => send('POST', '/inspect/pipelines/demo'),
    onSuccess: (run) => {
      onBegun(run);
      void queryClient.invalidateQueries({ queryKey: [keys.pipelines] });
    },
  });
}

/** Runs one job of a run again, which is a run of its own. */
export function useRetryJob(id: string, onBegun: (run: RunSummary, job: string) => void) {
  return useMutation({
    mutationFn: (job: string) =>
      send('POST', `/inspect/pipelines/${encodeURIComponent(id)}/jobs/${encodeURIComponent(job)}/retry`),
    onSuccess: (run, job) => {
      onBegun(run, job);
      void queryClient.invalidateQueries({ queryKey: [keys.pipelines] });
    },
    onError: (thrown) => toast({ tone: 'error', text: failureOf(thrown).message }),
  });
}

/** Ends a run that the platform has begun; its record says when it has. */
export function useStopRun(id: string) {
  return useMutation({
    mutationFn: () => send('POST', `/inspect/pipelines/${encodeURIComponent(id)}/stop`),
    onError: (thrown) => toast({ tone: 'error', text: failureOf(thrown).message }),
  });
}

/** Sets a variable of a project, or takes it away: `value` undefined. */
export function useSetVariable(projectId: number) {
  return useMutation({
    mutationFn: ({ name, value }: { name: string; value: string | undefined }) => {
      const path = `/inspect/scm/projects/${projectId}/variables/${encodeURIComponent(name)}`;
      return value === undefined ? send('DELETE', path) : send('PUT', path, { value });
    },
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: [keys.pipelines] }),
  });
}
