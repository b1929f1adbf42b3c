import type { OutboundRule } from '../model/outbound-rule.ts';

/** File descriptor, in a lambda's process, by which it tells the emulator. */
export const CONTROL_FD = 3;
/**
 * And by which it is told. Another one: a stream to which nothing can be written any more is not read either, and what a dying
 * process had said by then has to be: a call that it had begun must not be run again.
 */
export const CALLS_FD = 4;

/**
 * Kinds of frames. The emulator sends load, invoke, rules, withdraw, goOn and collect; the process sends the others. `offspring`:
 * it starts something.
 */
export const FrameType = {
  load: 1,
  invoke: 2,
  loaded: 3,
  loadFailed: 4,
  began: 5,
  outbound: 6,
  outcome: 7,
  uncaught: 8,
  rules: 9,
  inspecting: 10,
  note: 11,
  offspring: 12,
  withdraw: 13,
  withdrawn: 14,
  goOn: 15,
  ready: 16,
  collect: 17,
  collected: 18,
} as const;

/** Where a lambda's process comes from. All that it starts carries it in its environment, and is known by it. */
export interface Origin {
  /** The emulator's process, as `machine/owner.ts` describes it. */
  owner: unknown;
  /** Unique to one platform in that process. */
  platform: string;
  /** 1, 2, 3 ... in the platform. */
  process: number;
}

/** The variable by which the offspring of a lambda's process is told what holds for it: JSON with `origin` among it. */
export const INHERITANCE = 'TERRARIUM_INHERITED';

/** The host that a lambda's CRM_API_BASEPATH names (D-200). */
export interface CrmHost {
  /** Lower case. */
  hostname: string;
  /** Only calls to this port, when it names one. */
  port?: number;
}

/** Where a stand-in listens; with TLS when `caPem` is there. */
export interface StandInAddress {
  host: string;
  port: number;
  caPem?: string;
}

/** What becomes of the calls that a lambda makes (D-200). */
export interface OutboundRoutes {
  crm?: CrmHost;
  /** Of the CRM. */
  standIn?: StandInAddress;
  /** Does it get calls to the CRM that no rule means? */
  catchesCrm: boolean;
  /** In the order in which they are asked. */
  rules: readonly OutboundRule[];
  /** Where what the lambda starts tells of its own calls. */
  news?: NewsAddress;
}

/** On the loopback address. */
export interface NewsAddress {
  port: number;
  token: string;
}

/** Turns a generic process into that of one lambda. */
export interface LoadHead {
  /** The whole environment of the lambda (D-113). */
  env: Record<string, string>;
  /** Its HOME. */
  home: string;
  /** Its working folder: that of its package, or its HOME. */
  folder: string;
  /** Absolute path of the module that has the handler. */
  file: string;
  exportName: string;
  resultLimitBytes: number;
  outbound: OutboundRoutes;
  origin: Origin;
  /** Where a debugger can attach is to be told before the code is loaded. */
  isDebugged: boolean;
}

/** Other rules about outbound calls than those at load hold from now on. */
export interface RulesHead {
  rules: readonly OutboundRule[];
}

/**
 * One call; the body of the frame is the request's body. Several may lie ready at a process: each begins when the outcome of the
 * one before is on its way.
 */
export interface InvokeHead {
  /** 1, 2, 3 ... in this process. */
  number: number;
  /** The last call that is over for the emulator, with all that it had written. */
  closed: number;
  /** From the beginning of the handler. */
  timeoutMs: number;
  /** JSON of a `CallContext` without its last brace: nobody but the handler reads it. */
  context: string;
  /** With the next one all of D-136 but what the process finds out itself: deadline, eventName, isBase64Encoded. */
  executionId: string;
  /** JSON of the members `lambdaId` and `lambdaName`, without braces. */
  lambda: string;
  /** Of that what hints are about. */
  place: CallPlace;
  /** Shall a debugger stand at the first line of the handler? */
  stopsFirst?: true;
}

/** Where a call comes from, as far as what is noted about its result depends on that. */
export interface CallPlace {
  httpAware: boolean;
  apiEndpointId?: string | undefined;
}

/** A call that has written something is over for the emulator: the next may begin. */
export interface GoOnHead {
  closed: number;
}

/** The handler is about to be called, at that moment by `monotonicMs`. It is, once this has left the process. */
export type BeganRow = [number: number, atMs: number];

/** How the handler ended; the body of the frame is its value. */
export interface OutcomeHead {
  number: number;
  kind: (typeof OUTCOME_KINDS)[number];
  /** When, by `monotonicMs`. */
  atMs: number;
  /**
   * How long the handler ran, but for the time in which others had the processor that it wanted; what its process took of the
   * processors meanwhile, and how long it had nothing to compute.
   */
  ranMs: number;
  computedMs: number;
  waitedMs: number;
  /** Has it written to standard output or error? The next call waits for `goOn` then. */
  hasWritten?: true;
  /** Absent when the handler answered. */
  failure?: 'error' | 'crash' | 'too-large';
  message?: string;
}

export const OUTCOME_KINDS = ['nothing', 'text', 'json'] as const;

/** As it is sent, since every call has one: `kind` by its place in OUTCOME_KINDS, the last two where there was a failure. */
export type OutcomeRow = [
  number: number,
  kind: number,
  atMs: number,
  ranMs: number,
  computedMs: number,
  waitedMs: number,
  hasWritten: 0 | 1,
  failure?: OutcomeHead['failure'],
  message?: string,
];
