import type { StoredResource } from '../model/record.ts';
import { providerIdOf } from '../model/types/provider-rules.ts';
import type { WorldView } from '../model/world-view.ts';
import { AttachedEngine, type EngineListener, type EngineState } from './attached-engine.ts';
import { engineKey, type OpenEngineOptions, openEngine } from './open-engine.ts';

/** One engine as people see it. */
export interface EngineView {
  address: string;
  state: EngineState['kind'];
  version?: string;
  reason?: string;
  /** Names of the providers whose containers it runs. */
  providers: string[];
}

export interface EnginesOptions {
  view: WorldView;
  /** How engines are found and opened. */
  opening: OpenEngineOptions;
  /** Who is told of what happens at an engine. */
  listener: EngineListener;
}

/** The engines that providers of a world name, each attached once. */
export class Engines {
  readonly #options: EnginesOptions;
  readonly #byKey = new Map<string, AttachedEngine>();

  constructor(options: EnginesOptions) {
    this.#options = options;
  }

  /** The engine of a provider; it is connected to when something is asked of it. */
  of(provider: StoredResource): AttachedEngine {
    const key = engineKey(provider);
    const known = this.#byKey.get(key);
    if (known) return known;
    const attached = new AttachedEngine(openEngine(provider, this.#options.opening), this.#options.listener);
    this.#byKey.set(key, attached);
    return attached;
  }

  /** The engine that is to run a container or job; undefined when its provider is gone. */
  find(record: StoredResource): AttachedEngine | undefined {
    const provider = this.#options.view.find(providerIdOf(record) ?? '');
    return provider && this.of(provider);
  }

  all(): AttachedEngine[] {
    return [...this.#byKey.values()];
  }

  ready(): AttachedEngine[] {
    return this.all().filter(({ state }) => state.kind === 'ready');
  }

  /** Begins to connect to all. */
  start(): void {
    for (const one of this.#byKey.values()) one.start();
  }

  stop(): void {
    for (const one of this.#byKey.values()) one.stop();
  }

  /** Asks those that are away now, and not when their turn comes. */
  async retry(): Promise<void> {
    await Promise.all(Array.from(this.#byKey.values(), (one) => one.retry()));
  }

  views(): EngineView[] {
    return [...this.#byKey].map(([key, { address, state }]) => ({
      address,
      state: state.kind,
      ...(state.kind === 'ready' && { version: state.version }),
      ...('reason' in state && { reason: state.reason }),
      providers: this.#options.view
        .all('providers')
        .filter((one) => isEngineProvider(one) && engineKey(one) === key)
        .map(({ name }) => name),
    }));
  }
}

/** Does a provider run containers? */
export const isEngineProvider = ({ type }: StoredResource): boolean => type.startsWith('Configuration::Provider::CaaS');
