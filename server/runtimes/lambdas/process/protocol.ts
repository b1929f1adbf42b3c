import type { PortRoute } from '../../../mocks/lambda-calls.ts';
import type { NamedForm } from '../../../model/crm-form.ts';
import type { OutboundRule } from '../../../model/outbound-rule.ts';

/** File descriptor, in a lambda's process, by which it tells the emulator. */
export const CONTROL_FD = 3;
/** File descriptor for incoming frames. It is separate, so that the last output of a dying process is readable when nothing can be written. */
export const CALLS_FD = 4;

/**
 * The emulator sends load, invoke, rules, recall, goOn, collect, callNumber and clock; the process the others. `subprocess`: it starts something.
 * `returned`: the handler of the running call has returned a value, which is its result at the timeout (D-138).
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
  subprocess: 12,
  recall: 13,
  recalled: 14,
  goOn: 15,
  ready: 16,
  collect: 17,
  collected: 18,
  memory: 19,
  returned: 20,
  countCall: 21,
  callNumber: 22,
  clock: 23,
} as const;

/** The time for which the record of an invocation waits for outbound calls after its end. */
export const OPEN_RECORD_MS = 1_000;

/** The origin of a lambda's process. Child processes inherit it in their environment, which identifies them. */
export interface Origin {
  /** The emulator's process, as `server/system/owner.ts` describes it. */
  owner: unknown;
  platform: string;
  process: number;
}

/** The variable by which the subprocess of a lambda's process receives what applies to it: JSON with `origin` among it. */
export const INHERITANCE = 'TERRARIUM_INHERITED';

/** A host that a lambda's CRM_API_BASEPATH or the setting outbound.crmHosts names (D-200). */
export interface CrmHost {
  hostname: string;
  port?: number;
}

/** All of them, with the paths that are forms there because variables of the lambda name them. */
export interface OwnCrm {
  hosts: readonly CrmHost[];
  formPaths: readonly string[];
}

export interface Address {
  host: string;
  port: number;
}

export interface MockAddress extends Address {
  caPem?: string;
}

export type { PortRoute };

/** The destinations of calls that a lambda makes (D-200). */
export interface OutboundRoutes {
  crm?: OwnCrm;
  /** The forms for a CRM: a host and paths that the lambda's variables name. */
  namedForms: readonly NamedForm[];
  /** The hosts of the platform: never those of a CRM. */
  ownHosts: readonly string[];
  /** The platform itself, with its mocks: no rule and no policy applies. */
  ownAddresses: readonly Address[];
  /** Calls to hosts outside this machine fail unless a rule decides otherwise (D-217). */
  blocksOutside: boolean;
  mock?: MockAddress;
  portRoutes: readonly PortRoute[];
  catchesCrm: boolean;
  rules: readonly OutboundRule[];
  reportAddress?: NewsAddress;
}

export interface NewsAddress {
  port: number;
  token: string;
}

export interface LoadHead {
  /** The whole environment of the lambda (D-113). */
  env: Record<string, string>;
  home: string;
  /** Its working folder: that of its package, or its HOME. */
  folder: string;
  file: string;
  exportName: string;
  /** A `node_modules` that is not above the code, and whose packages it can load all the same. */
  modules?: string;
  /** Yarn's file that finds the packages of its project, which has no `node_modules`. */
  plugAndPlay?: string;
  resultLimitBytes: number;
  outbound: OutboundRoutes;
  origin: Origin;
  /** See `clock` of `CommandHeads`. */
  clockAheadMs: number;
  /** True if the address for a debugger is reported before the code is loaded. */
  isDebugged: boolean;
  /** The memory in MB above which the process reports its use, where the system does not show the memory of a process. */
  reportsMemoryOverMb?: number;
}

/** The answer to a `countCall` frame: the number of calls that the rule has matched, with this one. */
export interface CallNumberHead {
  request: number;
  number: number;
}

/** The heads of the emulator's other frames to a lambda's process that have members. */
export interface CommandHeads {
  rules: { rules: readonly OutboundRule[] };
  /** The time by which the platform's clock is ahead of the machine's (D-222). */
  clock: { aheadMs: number };
  /** A call that has written output has ended for the emulator; the next one may start. */
  goOn: { closed: number };
  callNumber: CallNumberHead;
}

/** One call, with the request's body. Several can wait in a process: each starts when the outcome of the previous one has been sent. */
export interface InvokeHead {
  number: number;
  /** The last call that is over for the emulator, with all that it had written. */
  closed: number;
  timeoutMs: number;
  /** JSON of a `CallContext` without its last brace: only the handler reads it. */
  context: string;
  /** With the next one all of D-136 but what the process finds out itself: deadline, eventName, isBase64Encoded. */
  executionId: string;
  /** JSON of the members `lambdaId` and `lambdaName`, without braces. */
  lambda: string;
  place: CallPlace;
  stopsFirst?: true;
}

export interface CallPlace {
  httpAware: boolean;
  apiEndpointId?: string | undefined;
}

/** The handler is about to be called, at that moment by `monotonicMs`. It is, once this has left the process. */
export type BeganRow = [number: number, atMs: number];

/** The end of a handler; the body of the frame is its value. */
export interface OutcomeHead {
  number: number;
  kind: (typeof OUTCOME_KINDS)[number];
  atMs: number;
  /** The handler without waits for a processor; its processor time, and the time without work. */
  ranMs: number;
  computedMs: number;
  waitedMs: number;
  /** True if the handler has written to standard output or error. The next call then waits for `goOn`. */
  hasWritten?: true;
  /** True if the handler has left a timer or started a program or thread: it may call others after its response. */
  goesOn?: true;
  /** The content type of a web `Response` that the handler returned (D-137). */
  contentType?: string;
  failure?: 'error' | 'too-large' | 'invalid-result';
  message?: string;
}

export const OUTCOME_KINDS = ['nothing', 'text', 'json', 'bytes'] as const;

/** Added up in an `OutcomeRow`. */
export const OutcomeFlag = { hasWritten: 1, goesOn: 2 } as const;

/**
 * As it is sent, since every call has one: `kind` by its place in OUTCOME_KINDS. A row of a failure ends with two more members, one of a web
 * `Response` with its content type.
 */
export type OutcomeRow = [
  number: number,
  kind: number,
  atMs: number,
  ranMs: number,
  computedMs: number,
  waitedMs: number,
  flags: number,
  failureOrContentType?: string,
  message?: string,
];
