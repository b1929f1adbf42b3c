import { homedir } from 'node:os';
import { type Config, IN_MEMORY } from '../config-schema.ts';
import { type ContainerNews, ContainerService } from '../containers/container-service.ts';
import { engineKey, openEngine } from '../containers/open-engine.ts';
import { ContainerProxy } from '../gateway/container-proxy.ts';
import type { Uuid } from '../model/ids.ts';
import type { WorldView } from '../model/world-view.ts';

/** How long requests under way at an instance that goes may still take. */
const DRAIN_MS = 10_000;

export interface ContainersOptions {
  view: WorldView;
  worldId: Uuid;
  config: Config;
  nowMs(): number;
  onNews(news: ContainerNews): void;
  onWarning(message: string): void;
}

/** What runs containers, the gateway's way to them, and how both end. */
export interface Containers {
  service: ContainerService;
  proxy: ContainerProxy;
  stop(): Promise<void>;
}

/** Wires containers and gateway, each of which needs the other: what serves, and what has to be drained before it goes. */
export function createContainers({ view, worldId, config, nowMs, onNews, onWarning }: ContainersOptions): Containers {
  const { engine, onStop } = config.containers;
  const proxy: ContainerProxy = new ContainerProxy({
    directory: {
      serving: (id, portName) => service.serving(id, portName),
      whyNotServing: (id) => service.whyNotServing(id),
    },
    nowMs,
  });
  const service: ContainerService = new ContainerService({
    view,
    nowMs,
    engineKey,
    openEngine: (provider) => openEngine(provider, { worldId, engine, env: process.env, homeDir: homedir() }),
    drain: (instanceId) => proxy.drain(instanceId, DRAIN_MS),
    onNews,
    onWarning,
  });
  // A world in memory is gone with its process: nobody would ever find again what it leaves behind.
  const what = config.data === IN_MEMORY ? 'remove' : onStop;
  return {
    service,
    proxy,
    async stop() {
      proxy.stop();
      await service.stop(what);
    },
  };
}
