import type { IncomingMessage } from 'node:http';
import type { RequestHandler, Router } from 'express';
import type { z } from 'zod';
import type { FaultRules } from '../api/server/fault-rules.ts';
import type { RouteGuard } from '../api/server/mount-routes.ts';
import type { Notifier } from '../api/server/notifier.ts';
import type { WorldStore } from '../storage/world/world-store.ts';
import type { PlatformClock } from '../system/clock.ts';
import type { Declaration, OwnLogsOf } from './declaration.ts';

/** Names something that a plugin notifies others of. */
export interface Event<T> {
  readonly event: string;
  /** The type of the value that subscribers receive; no value. */
  readonly payload?: T;
}
export const event = <T>(name: string): Event<T> => ({ event: name });

/** Names something that another part of the platform provides. */
export interface Slot<T> {
  readonly slot: string;
  /** The type of what is provided; no value. */
  readonly value?: T;
}
export const slot = <T>(name: string): Slot<T> => ({ slot: name });

/** Settings of the platform that every plugin may read. */
interface CoreSettings {
  host: string;
  seed: string;
  /** First segment of type names (D-080). */
  typePrefix: string;
  outbound: {
    default: 'pass' | 'block';
    crm: 'catch' | 'pass';
    mail: 'catch' | 'pass';
    crmHosts: readonly string[];
  };
  linkLocalHosts: readonly string[];
  limits: { requestBodyBytes: number; requestTargetBytes: number; maxLambdaTimeoutS: number };
}
type SettingsIn<S> = { [Name in keyof S]: z.output<S[Name]> };
type OwnSettingsOf<D extends Declaration> = SettingsIn<D extends Record<'settings', infer S> ? S : unknown> &
  (D extends Record<'limits', infer L> ? { limits: SettingsIn<L> } : unknown);
type TopicOf<D extends Declaration> = D extends { topics: readonly (infer T)[] } ? T : never;

/** The addresses of the platform's services, without a slash at the end. */
export interface ServiceAddresses {
  baseUrl: string;
  metaUrl: string;
  securityUrl: string;
  gatewayUrl: string;
}

/** The addresses of the platform. Ports that are chosen at start are known when it is ready. */
export interface PlatformAddresses {
  /** As everybody may know them. */
  serviceAddresses(): ServiceAddresses;
  /** As the client of a request reached the platform (D-011). */
  seenBy(request: IncomingMessage): ServiceAddresses;
  /** Every listener's, by names such as `crmUrl`, and those of the services. */
  all(): ServiceAddresses;
  /** Returns the address at which a listener of this process is reached from this machine. */
  local(name: string): string;
  windowWith(code: string): string;
}

/** The services of the platform that all plugins share. */
export interface SharedPlatform {
  readonly store: WorldStore;
  /** The data folder; undefined when everything is in memory. */
  readonly folder: string | undefined;
  /** For files that do not outlive the process: homes, code and packages of lambdas. */
  readonly scratchFolder: string;
  /** Throws when the folder does not belong to this platform any more. */
  checkFolder(): void;
  readonly addresses: PlatformAddresses;
  /** Host names that requests may name besides the loopback ones. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Lets requests wait for data that does not exist yet. */
  readonly notifier: Notifier;
  readonly faults: FaultRules;
  readonly clock: PlatformClock;
  /** The time of `clock`, in milliseconds since 1970: for times that are shown or stored. */
  nowMs(): number;
  /** Elapsed milliseconds, sleep included: for durations. Neither the machine's clock nor `clock` changes it. */
  steadyMs(): number;
  /** As `nowMs`, with tenths of milliseconds. */
  fineMs(): number;
  /** Is a window open? Without one, what happens often need not be published. */
  hasViewers(): boolean;
  warn(sentence: string): void;
  onFault(fault: unknown): void;
}

export interface Platform<D extends Declaration> extends SharedPlatform {
  readonly config: CoreSettings & OwnSettingsOf<D>;
  readonly logs: OwnLogsOf<D>;
  /** Calls the subscriber for each such event, in the order in which plugins start. */
  on<T>(event: Event<T>, listener: (payload: T) => unknown): void;
  /** Notifies all subscribers, and does not wait. One that fails is reported. */
  emit<T>(event: Event<T>, payload: T): void;
  /** Notifies all subscribers and waits for them. Rejects if one fails, after all have been notified. */
  settle<T>(event: Event<T>, payload: T): Promise<void>;
  fill<T>(slot: Slot<T>, value: T): void;
  /** Returns the value that fills the slot. Throws while nothing does. */
  slot<T>(slot: Slot<T>): T;
  /** Tells the window that something of this topic has changed. */
  publish(topic: TopicOf<D>, details?: object | string): void;
  /** The plugin's server listens at that port. */
  listensAt(port: number): void;
  /** Routers below `/inspect` and `/log`; loaded when one of them is first used. */
  routes(load: (guard: RouteGuard) => Promise<readonly Router[]>): void;
  /** Adds the handler of requests below another path, such as `/meta`; loaded likewise. */
  mount(path: string, load: () => Promise<RequestHandler>): void;
  /** Registers the function that returns the plugin's status: `running`, or why it is not. */
  status(read: () => string): void;
  /** A sentence while something that the plugin keeps cannot be saved (D-015). */
  failure(read: () => string | undefined): void;
  /** Runs when the control plane listens: the last servers start to listen, and records are updated with the addresses. */
  onListening(step: () => unknown): void;
  /** Runs when all addresses are known. */
  onReady(step: () => unknown): void;
  /** Runs before anything stops. @param timeoutMs how long it is waited for */
  onStopping(step: () => unknown, timeoutMs?: number): void;
  /**
   * Runs when the platform stops, or if its start fails; the step that was added last is the first. What is added before the control plane
   * listens runs after it has closed.
   *
   * @param timeoutMs how long it is waited for
   */
  onStop(step: () => unknown, timeoutMs?: number): void;
}

/**
 * A subject of the platform.
 *
 * @typeParam N the plugins that it uses: they start before it
 * @typeParam E what it gives to those who use it
 */
export interface Plugin<D extends Declaration, N extends Plugins, E> {
  declaration: D;
  needs?: N;
  start(platform: Platform<D>, needs: ExposedBy<N>): E | Promise<E>;
}

/** Any plugin, for those who do not know its types. */
export interface AnyPlugin {
  declaration: Declaration;
  needs?: Plugins;
  start(platform: never, needs: never): unknown;
}
export type Plugins = Readonly<Record<string, AnyPlugin>>;

/** The values that plugins expose to their users, by the names of the plugins. */
export type ExposedBy<P extends Plugins> = { readonly [Name in keyof P]: Awaited<ReturnType<P[Name]['start']>> };

/** Infers the types of a plugin from its declaration, its needs and its start. */
export const plugin = <D extends Declaration, E, N extends Plugins = Record<never, AnyPlugin>>(
  definition: Plugin<D, N, E>,
): Plugin<D, N, E> => definition;
