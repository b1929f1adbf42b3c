import { PlatformError } from '../../model/errors.ts';
import type { LambdaInvoker } from '../../model/invocation.ts';
import type { JsonObject } from '../../model/json.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import type { WriteConstraints } from '../../model/resource-type.ts';
import { LAMBDA } from '../../model/types/lambda.ts';
import type { WorldStore } from '../../storage/world/world-store.ts';
import { createAuthorizer, EntitlementFinder } from '../security/entitlements.ts';
import { hashPassword } from '../security/passwords.ts';
import { Moves, type WorkloadController } from './moves.ts';
import { Policies } from './policies.ts';
import { providerDefaults } from './provider-defaults.ts';
import { Renderer } from './renderer.ts';
import { ResourceService } from './resource-service.ts';

/** Runs containers and jobs, as far as their records show it and moves depend on it. */
export interface ContainerStatusProvider extends WorkloadController {
  /** The live properties of a container or job (D-048). */
  status(resource: StoredResource): JsonObject;
  /** The record was sent again unchanged: nothing is written (D-052). */
  confirmed(resource: StoredResource): void;
}

const NOTHING_RUNS: ContainerStatusProvider = {
  status: () => ({}),
  confirmed: () => {},
  requireEngine: async () => {
    throw new PlatformError('stopping', 'no container runs while a world is seeded');
  },
  whenRunning: async () => undefined,
};

export interface CoreConfig {
  constraints: WriteConstraints;
  /** First segment of type names (D-080). */
  typePrefix: string;
}

export function coreConfigOf(
  config: {
    typePrefix: string;
    allowedHostPaths: readonly string[];
    limits: { maxInstances: number; maxLambdaTimeoutS: number };
  },
  ownHosts: ReadonlySet<string>,
): CoreConfig {
  const { typePrefix, limits, allowedHostPaths } = config;
  return { typePrefix, constraints: { limits, allowedHostPaths, ownHosts } };
}

export interface CoreOptions {
  store: Pick<WorldStore, 'view' | 'commit'>;
  config: CoreConfig;
  /** Absent while a world is made or tried out: then policies are left out, no limit is asked, no event sent (D-215). */
  invoker?: LambdaInvoker;
  /** Absent likewise: then no container runs, records are only checked and kept. */
  containers?: ContainerStatusProvider;
  /** One-way hash of a password; default `hashPassword`. */
  hashPassword?(password: string): Promise<string>;
  addresses(): { metaUrl: string; gatewayUrl: string };
  /** Called when a package must be fetched again (D-057). */
  refetch?(lambdaId: Uuid): void;
  /** Was an id ever an account's (D-030)? Default: none was. */
  wasAccount?(id: Uuid): boolean;
  nowMs(): number;
  onWarning(message: string): void;
}

/** The resource service over a store, with its rules: all changes of a world go through it. */
export type ControlPlane = ReturnType<typeof createControlPlaneServices>;

/** Wires the core. The first world is made with it in memory, the running emulator has it over the data folder. */
export function createControlPlaneServices(options: CoreOptions) {
  const { store, config, invoker, containers = NOTHING_RUNS, addresses, nowMs, onWarning } = options;
  const { view } = store;
  const authorizer = createAuthorizer(view);
  const live = (resource: StoredResource): JsonObject => {
    const { collection } = typeOf(resource);
    const status = collection === 'containers' || collection === 'jobs' ? containers.status(resource) : {};
    return { ...status, ...moves.live(resource.id) };
  };
  const renderer = () => new Renderer({ view, ...addresses(), typePrefix: config.typePrefix, live });
  const policies = new Policies({
    view,
    ...(invoker && { invoker }),
    renderer,
    metaUrl: () => addresses().metaUrl,
    onWarning,
  });
  const service: ResourceService = new ResourceService({
    store,
    authorizer,
    policies,
    hashPassword: options.hashPassword ?? hashPassword,
    constraints: config.constraints,
    nowMs,
    wasAccount: options.wasAccount ?? (() => false),
    isMoving: (id) => moves.isMoving(id),
    renderer,
    onConfirmed: (resource) => containers.confirmed(resource),
    onPatched: ({ id, type }, operations) => {
      if (type !== LAMBDA) return;
      if (operations.some(({ op, path }) => op !== 'test' && path === '/properties/package_url')) options.refetch?.(id);
    },
  });
  const moves: Moves = new Moves(service, policies, containers);
  const defaults = providerDefaults(service, () => addresses().gatewayUrl);
  return { service, authorizer, finder: new EntitlementFinder(view), moves, defaults, live };
}
