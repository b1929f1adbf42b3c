import { z } from 'zod';

const jobState = z.enum(['waiting', 'running', 'success', 'failed', 'skipped']);

/** One job of a pipeline. */
const pipelineJob = z.strictObject({
  name: z.string().max(255),
  stage: z.string().max(255),
  state: jobState,
  exitCode: z.int().optional(),
  startedAtMs: z.number().optional(),
  durationMs: z.number().optional(),
});

/** What the runner of a pipeline tells when it begins. */
export const pipelineStart = z.strictObject({
  project: z.strictObject({ id: z.int(), path: z.string() }),
  branch: z.string(),
  sha: z.string(),
  /** The merge request that the run is for. */
  mergeRequest: z.strictObject({ iid: z.int(), url: z.string() }).optional(),
  /** Names of the variables that it was given, and of those that its definition asks for and that nobody gave. Never values. */
  variables: z.strictObject({ present: z.array(z.string()), missing: z.array(z.string()) }),
  jobs: z.array(pipelineJob).max(1_000),
});

/** What it tells while it goes on. */
export const pipelineProgress = z.strictObject({
  state: z.enum(['running', 'success', 'failed', 'canceled']),
  jobs: z.array(pipelineJob).max(1_000),
  /** Lines since it last told. */
  log: z.array(z.string()).max(10_000).default([]),
  /** Of the runner, once it has ended. */
  exitCode: z.int().optional(),
  /** Where the app is, as the environment in the source-control server says. */
  appUrl: z.string().optional(),
});

export type PipelineJob = z.output<typeof pipelineJob>;
export type PipelineStart = z.output<typeof pipelineStart>;
export type PipelineProgress = z.output<typeof pipelineProgress>;

/** The record of one run of a pipeline. */
export interface PipelineRun extends PipelineStart, Omit<PipelineProgress, 'log'> {
  id: string;
  /** Epoch milliseconds. */
  startedAtMs: number;
  finishedAtMs?: number;
  log: string[];
}
