import { z } from 'zod';
import type { KeyedLog } from '../model/keyed-log.ts';

/** The parts of a subject as data, read before anything starts: a `declaration.ts` imports only zod, this folder and types. */
export interface Declaration {
  /** Top-level settings, by their names. */
  settings?: Readonly<Record<string, z.core.SomeType>>;
  /** Settings below `limits`. */
  limits?: Readonly<Record<string, z.core.SomeType>>;
  /** A server of its own. Its port is the setting `{name}Port`, its address `{name}Url`, for commands `TERRARIUM_{NAME}_URL`. */
  listener?: ListenerDeclaration;
  /** Its logs, by the names of their files in the data folder, without `.jsonl`. */
  logs?: Readonly<Record<string, LogDeclaration<unknown>>>;
  /** The topics of the live channel that it publishes. */
  topics?: readonly string[];
  /** Set if the status of the platform names it although it has no listener. */
  hasStatus?: true;
}

export interface ListenerDeclaration {
  /** In the list of addresses that a start prints. */
  title: string;
  /** In sentences: "the mock CRM port". */
  noun: string;
  /** Default: http. */
  scheme?: 'https' | 'smtp';
}

/** Records by key, outside the history of the world. */
export interface LogDeclaration<T> {
  /** The oldest records are removed above that. */
  caps?: { maxItems: number; maxBytes: number };
  /** The part under which its size on disk is listed. */
  part: string;
  /** Set if its records are not counted as items of that part. */
  isUncounted?: true;
  /** Set if `reset` of a test suite restores the content that it had when the platform started. */
  reset?: true;
  /** Set if it is part of an archive: `export` only exports it, a function that loads the check of its records also imports it. */
  archive?: 'export' | (() => Promise<(record: unknown) => T & object>);
  /** The type of a record; no value. */
  readonly record?: T;
}

export const log = <T>(declared: Omit<LogDeclaration<T>, 'record'>): LogDeclaration<T> => declared;

type Declarations = Readonly<Record<string, Declaration>>;
type Intersection<U> = (U extends unknown ? (input: U) => void : never) extends (all: infer I) => void ? I : never;
type MembersOf<D extends Declarations, K extends keyof Declaration> = Intersection<
  { [Name in keyof D]: D[Name] extends Record<K, infer M> ? M : never }[keyof D]
>;

export type SettingsOf<D extends Declarations> = MembersOf<D, 'settings'>;
export type LimitsOf<D extends Declarations> = MembersOf<D, 'limits'>;
export type OwnLogsOf<D extends Declaration> = Opened<D extends Record<'logs', infer L> ? L : unknown>;
export type LogsOf<D extends Declarations> = Opened<MembersOf<D, 'logs'>>;
type Opened<L> = { [Name in keyof L]: L[Name] extends LogDeclaration<infer T> ? KeyedLog<T> : never };
export type ListenerNameOf<D extends Declarations> = {
  [Name in keyof D & string]: D[Name] extends { listener: ListenerDeclaration } ? Name : never;
}[keyof D & string];

/** One kind of member of all declarations, by its name. Throws Error naming both subjects when two declare one of the same name. */
export function membersOf<M>(
  declarations: Declarations,
  memberKind: string,
  membersOfOne: (declaration: Declaration, name: string) => Readonly<Record<string, M>> | undefined,
): Map<string, M> {
  const owners = new Map<string, string>();
  const members = new Map<string, M>();
  for (const [owner, declaration] of Object.entries(declarations)) {
    for (const [name, member] of Object.entries(membersOfOne(declaration, owner) ?? {})) {
      const other = owners.get(name);
      if (other !== undefined)
        throw new Error(`'${other}' and '${owner}' both declare the ${memberKind} '${name}': rename one of them`);
      owners.set(name, owner);
      members.set(name, member);
    }
  }
  return members;
}

interface SettingNotes {
  description: string;
  /** Completes "it must be ...". */
  expected: string;
  /** Placeholder of the value in help texts; absent for a switch. */
  placeholder?: string;
  /** Never printed. */
  isSecret?: boolean;
}

/** The notes of each setting, by its schema. */
export const settingNotes = z.registry<SettingNotes>();

const PORT = 'a port number from 0 to 65535 (0 = choose a free one)';

export const port = (defaultPort: number, description: string) =>
  z
    .int()
    .min(0)
    .max(65_535)
    .default(defaultPort)
    .register(settingNotes, { description: `${description} (0 = choose)`, expected: PORT, placeholder: 'PORT' });

export const limit = (defaultLimit: number, description: string) =>
  z
    .int()
    .min(1)
    .default(defaultLimit)
    .register(settingNotes, { description, expected: 'a whole number of at least 1', placeholder: 'N' });
