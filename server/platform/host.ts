import express, { type RequestHandler, type Router } from 'express';
import { answerErrors } from '../api/server/answer-error.ts';
import { lazyRoutes, type RouteGuard, routesOf } from '../api/server/mount-routes.ts';
import { PlatformError, reasonOf } from '../model/errors.ts';
import type { Declaration } from '../plugin/declaration.ts';
import type { AnyPlugin, Event, ExposedBy, Platform, Plugins, SharedPlatform, Slot } from '../plugin/plugin.ts';
import { lazy } from '../system/lazy.ts';
import type { CleanupStack } from './cleanup-stack.ts';

/** Default time limit for a plugin to stop. */
const STOP_TIMEOUT_MS = 15_000;
/** Paths whose routes come from several plugins. */
const SHARED_PATHS = ['/inspect', '/log'];

type Shared = SharedPlatform & {
  /** With the settings and logs of all plugins. */
  config: object;
  logs: object;
  publish(topic: string, details?: object | string): void;
  listensAt(name: string, port: number): void;
};
type Phase = 'listening' | 'ready' | 'stopping';

interface Subscriber {
  plugin: string;
  notify(payload: unknown): unknown;
}

/** Starts plugins and gives each what it may use. */
export class Host {
  readonly #shared: Shared;
  readonly #cleanup: CleanupStack;
  readonly #stopTimeoutMs: number;
  readonly #subscribers = new Map<string, Subscriber[]>();
  readonly #slots = new Map<string, unknown>();
  readonly #steps: Record<Phase, { name: string; step(): unknown; timeoutMs?: number | undefined }[]> = {
    listening: [],
    ready: [],
    stopping: [],
  };
  readonly #routes: { name: string; load(guard: RouteGuard): Promise<readonly Router[]> }[] = [];
  readonly #mounts = new Map<string, { name: string; load(): Promise<RequestHandler> }>();
  readonly #statuses = new Map<string, () => string>();
  readonly #failures: (() => string | undefined)[] = [];

  /** @param cleanup stops what was started, in reverse order */
  constructor(shared: Shared, cleanup: CleanupStack, stopTimeoutMs = STOP_TIMEOUT_MS) {
    this.#shared = shared;
    this.#cleanup = cleanup;
    this.#stopTimeoutMs = stopTimeoutMs;
  }

  /** Starts plugins in order, each after those it needs. Throws Error that names the plugin, with the properties of its error, such as `code`. */
  async start<P extends Plugins>(plugins: P): Promise<ExposedBy<P>> {
    const names = new Map(Object.entries<AnyPlugin>(plugins).map(([name, plugin]) => [plugin, name]));
    const exposed = new Map<AnyPlugin, unknown>();
    const started = async (plugin: AnyPlugin): Promise<unknown> => {
      const name = names.get(plugin);
      if (exposed.has(plugin)) return exposed.get(plugin);
      const needs: Record<string, unknown> = {};
      for (const [key, needed] of Object.entries(plugin.needs ?? {})) {
        if (!names.has(needed)) throw new Error(`'${name}' needs '${key}', which is not in the list of plugins`);
        needs[key] = await started(needed);
      }
      const { listener, hasStatus } = plugin.declaration;
      if (listener || hasStatus) this.#statuses.set(`${name}`, () => 'running');
      const platform = this.#platformFor(`${name}`) as never; // with the settings and logs of all plugins
      exposed.set(plugin, await attributed(`${name}`, () => plugin.start(platform, needs as never))); // to each its own
      return exposed.get(plugin);
    };
    for (const plugin of names.keys()) await started(plugin);
    const entries = [...names].map(([plugin, name]) => [name, exposed.get(plugin)]);
    return Object.fromEntries(entries) as ExposedBy<P>; // each by its name
  }

  /** Runs the steps of a phase, one after another. */
  async run(phase: Phase): Promise<void> {
    for (const { name, step, timeoutMs } of this.#steps[phase]) {
      if (phase === 'stopping') await this.#withinTime(name, step, timeoutMs);
      else await attributed(name, step);
    }
  }

  fill<T>({ slot }: Slot<T>, value: T): void {
    this.#slots.set(slot, value);
  }

  /** @param plugin named if it throws */
  on<T>({ event }: Event<T>, plugin: string, listener: (payload: T) => unknown): void {
    const subscriber = { plugin, notify: listener as Subscriber['notify'] }; // `emit` takes the same token
    this.#subscribers.set(event, [...(this.#subscribers.get(event) ?? []), subscriber]);
  }

  /** Notifies all subscribers, in the order in which they subscribed. One that throws is reported; the others are still notified. */
  readonly emit = <T>(event: Event<T>, payload: T): void => {
    for (const hearing of this.#notify(event, payload)) hearing.catch(this.#shared.onFault);
  };

  /** As `emit`, and waits for all subscribers; then rejects with the failure of the first one that failed. */
  readonly settle = async <T>(event: Event<T>, payload: T): Promise<void> => {
    const hearings = this.#notify(event, payload);
    await Promise.allSettled(hearings);
    await Promise.all(hearings);
  };

  #notify<T>({ event }: Event<T>, payload: T): Promise<void>[] {
    return (this.#subscribers.get(event) ?? []).map(async ({ plugin, notify }) => {
      try {
        await notify(payload);
      } catch (cause) {
        throw new Error(`plugin '${plugin}' failed at event '${event}'`, { cause });
      }
    });
  }

  /** The request handler of each path, and a function that loads all. @param guard of the routes below the paths that plugins share */
  routers(guard: RouteGuard): { handlers: Record<string, RequestHandler>; preload(): void } {
    const shared = lazy(() => this.#sharedRouters(guard));
    const loads: (() => Promise<unknown>)[] = [shared];
    const handlers: Record<string, RequestHandler> = {};
    for (const path of SHARED_PATHS) {
      handlers[path] = lazyRoutes(async () => (await shared()).get(path) ?? noRoute);
    }
    for (const [path, { load }] of this.#mounts) {
      const once = lazy(load);
      loads.push(once);
      handlers[path] = lazyRoutes(once);
    }
    return {
      handlers,
      preload: () => {
        const loaded = Promise.all(loads.map((load) => load().catch(this.#shared.onFault)));
        this.#cleanup.add(() => loaded);
      },
    };
  }

  /** The routes of all plugins below shared paths, such as `get /inspect/leads`. Throws Error that names both plugins with the same one. */
  async routes(guard: RouteGuard): Promise<string[]> {
    return (await this.#load(guard)).flatMap(routesOf);
  }

  /** Returns the status of each plugin that has one. */
  statuses(): Record<string, string> {
    return Object.fromEntries(Array.from(this.#statuses, ([name, read]) => [name, read()]));
  }

  /** Returns the failures that keep changes from being saved, one sentence each. */
  failures(): string[] {
    return this.#failures.flatMap((read) => read() ?? []);
  }

  async #sharedRouters(guard: RouteGuard): Promise<Map<string, Router>> {
    const routers = new Map(SHARED_PATHS.map((path) => [path, express.Router({ caseSensitive: true })]));
    for (const router of await this.#load(guard)) {
      const [route = ''] = routesOf(router);
      routers.get(route.match(/\/[^/]+/)?.[0] ?? '')?.use(router);
    }
    for (const router of routers.values()) router.use(noRoute, answerErrors(this.#shared.onFault));
    return routers;
  }

  async #load(guard: RouteGuard): Promise<Router[]> {
    const loaded = await Promise.all(
      this.#routes.map(async ({ name, load }) => ({ name, routers: await load(guard) })),
    );
    const owners = new Map<string, string>();
    for (const { name, routers } of loaded) {
      for (const route of routers.flatMap(routesOf)) {
        const other = owners.get(route);
        if (other !== undefined) throw new Error(`'${other}' and '${name}' both have the route '${route}': change one`);
        owners.set(route, name);
      }
    }
    return loaded.flatMap(({ routers }) => routers);
  }

  #platformFor(name: string): Omit<Platform<Declaration>, 'config' | 'logs' | 'publish'> {
    const inPhase = (phase: Phase) => (step: () => unknown, timeoutMs?: number) =>
      void this.#steps[phase].push({ name, step, timeoutMs });
    return {
      ...this.#shared,
      on: (event, listener) => this.on(event, name, listener),
      emit: this.emit,
      settle: this.settle,
      fill: (slot, value) => this.fill(slot, value),
      slot: <T>({ slot }: Slot<T>) => {
        if (!this.#slots.has(slot))
          throw new Error(`nothing provides '${slot}': list the plugin that does before '${name}'`);
        return this.#slots.get(slot) as T; // `fill` takes the same token
      },
      listensAt: (port) => this.#shared.listensAt(name, port),
      routes: (load) => void this.#routes.push({ name, load }),
      mount: (path, load) => {
        const other = this.#mounts.get(path)?.name;
        if (other !== undefined) throw new Error(`'${other}' and '${name}' both answer below '${path}': change one`);
        this.#mounts.set(path, { name, load });
      },
      status: (read) => void this.#statuses.set(name, read),
      failure: (read) => void this.#failures.push(read),
      onListening: inPhase('listening'),
      onReady: inPhase('ready'),
      onStopping: inPhase('stopping'),
      onStop: (step, timeoutMs) => this.#cleanup.add(() => this.#withinTime(name, step, timeoutMs)),
    };
  }

  /** A plugin that does not stop is reported, and not waited for any longer. */
  async #withinTime(name: string, step: () => unknown, timeoutMs = this.#stopTimeoutMs): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#shared.warn(`'${name}' did not stop within ${timeoutMs / 1_000} s; the platform stops without it`);
        resolve();
      }, timeoutMs);
    });
    try {
      await Promise.race([step(), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Names the plugin that fails, and keeps the properties of the failure. */
async function attributed<T>(name: string, step: () => T): Promise<Awaited<T>> {
  try {
    return await step();
  } catch (cause) {
    throw Object.assign(new Error(`'${name}' did not start: ${reasonOf(cause)}`, { cause }), cause);
  }
}

const noRoute: RequestHandler = (req) => {
  throw new PlatformError('no_route', `no route: ${req.method} ${req.originalUrl.split('?', 1)[0]}`);
};
