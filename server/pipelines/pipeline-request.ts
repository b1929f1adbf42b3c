import type { PlatformCalls } from './platform-calls.ts';
import type { Repository } from './repository.ts';
import type { PipelineSource } from './rules.ts';

/** What a run is asked for. */
export interface PipelineRequest {
  repository: Repository;
  /** Path of the project in the source-control stand-in; the one that `origin` names unless given. */
  project: string | undefined;
  /** What sets it off; what the server would run for the branch unless given. */
  source: PipelineSource | undefined;
  target: { org: string; environment: string | undefined; api: string | undefined; account: string };
  /** More variables, which win over all others. */
  typed: Readonly<Record<string, string>>;
  /** Run these jobs only, even manual ones; none named: all. */
  only: readonly string[];
  takesWorkingTree: boolean;
  /** Run jobs on this machine that have an image, too. */
  usesShell: boolean;
  /** Wait until the app answers. */
  waits: boolean;
  startedBy?: string | undefined;
  retryOf?: string | undefined;
  /** Is the repository one that stays? */
  isKept: boolean;
}

export interface PipelineSurroundings {
  platform: PlatformCalls;
  /** What jobs inherit. */
  env: Readonly<Record<string, string | undefined>>;
  signal: AbortSignal;
  say(line: string): void;
  onBegin?(run: { id: string }): void;
}

export interface PipelineEnd {
  id: string;
  /** 0 when the app answers; 1 when something failed; 130 when it was cancelled. */
  exitCode: number;
  appUrl: string | undefined;
}
