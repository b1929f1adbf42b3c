import type { CallContext } from '../model/invocation.ts';

/** File descriptor of the control channel in a lambda's process. */
export const CONTROL_FD = 3;

/** Kinds of frames. The emulator sends load and invoke; the process sends the others. */
export const FrameType = {
  load: 1,
  invoke: 2,
  loaded: 3,
  loadFailed: 4,
  began: 5,
  outbound: 6,
  outcome: 7,
  uncaught: 8,
} as const;

/** Where calls to a lambda's CRM go instead (D-200). */
export interface CrmRoute {
  /** Host that the lambda's CRM_API_BASEPATH names, lower case. */
  hostname: string;
  /** Only calls to this port, when it names one. */
  port?: number;
  /** The stand-in's address; TLS when `caPem` is there. */
  standIn: { host: string; port: number; caPem?: string };
}

/** Turns a generic process into that of one lambda. */
export interface LoadHead {
  /** The whole environment of the lambda (D-113). */
  env: Record<string, string>;
  /** Working folder, the same as its HOME. */
  home: string;
  /** Absolute path of the module that has the handler. */
  file: string;
  exportName: string;
  resultLimitBytes: number;
  crm?: CrmRoute;
}

/** One call; the body of the frame is the request's body. */
export interface InvokeHead {
  /** 1, 2, 3 ... in this process. */
  number: number;
  /** All of D-136 but what the process finds in the body itself: eventName, isBase64Encoded. */
  context: CallContext & { executionId: string; lambdaId: string; lambdaName: string; deadline: number };
}

/** The handler is about to be called. */
export interface BeganHead {
  number: number;
}

/** News of an outbound call: method and url when it starts, later what became known since. */
export interface OutboundHead {
  number: number;
  /** 1, 2, 3 ... in this process. */
  id: number;
  method?: string;
  url?: string;
  caughtBy?: 'crm';
  status?: number;
  error?: string;
  ended?: true;
}

/** How the handler ended; the body of the frame is its value. */
export interface OutcomeHead {
  number: number;
  kind: 'nothing' | 'text' | 'json';
  /** Absent when the handler answered. */
  failure?: 'error' | 'crash' | 'too-large';
  message?: string;
}

/** Why loading failed, or what nobody caught. */
export interface MessageHead {
  message: string;
}
