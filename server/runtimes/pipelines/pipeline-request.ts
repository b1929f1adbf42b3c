import type { Expectation } from './deployed.ts';
import type { Finding } from './keywords.ts';
import type { PlatformCalls } from './platform-calls.ts';
import type { Repository } from './repository.ts';
import type { PipelineSource } from './rules.ts';

export interface PipelineRequest {
  repository: Repository;
  /** Path of the project in the mock GitLab (default: the project that `origin` names). */
  project: string | undefined;
  /** Source of the pipeline (default: the one that GitLab would choose for the branch). */
  source: PipelineSource | undefined;
  target: { org: string; environment: string | undefined; api: string | undefined; account: string };
  /** More variables, which win over all others. */
  typed: Readonly<Record<string, string>>;
  /** Run these jobs only, even manual ones; none named: all. */
  only: readonly string[];
  takesWorkingTree: boolean;
  /** Run jobs on this machine that have an image, too. */
  usesShell?: boolean;
  /** Run also what is refused, because it cannot be as on the server. */
  isForced?: boolean;
  /** Delayed jobs wait as long as `start_in` says. */
  delays: boolean;
  /** Wait until the app answers. */
  waits: boolean;
  /** Responses of the apps; any path with 2xx or 3xx unless given. */
  expected: readonly Expectation[];
  startedBy?: string | undefined;
  retryOf?: string | undefined;
  /** Is the repository one that stays? */
  isKept: boolean;
  /** Set if the commit is already in the mock GitLab. */
  isPushed?: true;
  /** The commit that the branch had before the push that starts the run. */
  beforeSha?: string | undefined;
}

/** The plan of a run, which lists its jobs without running them. */
export interface PipelinePlan extends PlanOfJobs {
  source: PipelineSource;
  branch: string;
  sha: string;
  /** Also of the jobs of child pipelines. */
  findings: readonly Finding[];
}

/** The jobs of a pipeline, and those that it leaves out. */
export interface PlanOfJobs {
  jobs: readonly PlanOfJob[];
  leftOut: readonly { name: string; decision?: string | undefined }[];
}

export interface PlanOfJob {
  name: string;
  stage: string;
  when: string;
  decision?: string | undefined;
  /** Absent for a job that runs on this machine. */
  image?: string;
  services?: readonly string[];
  needs?: readonly string[];
  variables: Readonly<Record<string, string>>;
  /**
   * The child pipeline that the job starts: its jobs, the reason why it cannot be created, or the fact that another job
   * creates its definition.
   */
  child?: PlanOfJobs | { problem: string } | { isGenerated: true };
}

export interface SectionMarker {
  section: string;
  isStart: boolean;
  isCollapsed: boolean;
}

export interface PlanContext {
  platform: PlatformCalls;
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  /** @param jobLine the job that the line is about, and the line without its stamp: `$ COMMAND`, `> OUTPUT`, or what the runner says */
  reportLine(line: string, jobLine?: { job: string; text: string }): void;
}

export interface PipelineContext extends PlanContext {
  /** The setting `containers.engine`: jobs run where the containers of the platform run. */
  containerEngine: string;
  onSection?(job: string, marker: SectionMarker): void;
  onBegin?(run: { id: string }): void;
}

export interface PipelineEnd {
  id: string;
  /** 0 when the app answers; 1 when something failed; 130 when it was cancelled. */
  exitCode: number;
  appUrl: string | undefined;
  /** Set if GitLab would run a second pipeline for the commit: its source. */
  nextSource?: PipelineSource;
}
