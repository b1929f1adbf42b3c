import type { Router } from 'express';
import {
  type ContainerEngineState,
  type ContainerUsage,
  containerRows,
  type ExecOutcome,
} from '../contract/containers.ts';
import { A_WORKLOAD } from '../contract/parts.ts';
import { eyesOf } from '../http/eyes.ts';
import { isForeignWrite } from '../http/foreign-write.ts';
import { type Gate, serve, targetOf } from '../http/serve.ts';
import type { Caller } from '../model/caller.ts';
import { PlatformError } from '../model/errors.ts';
import { parseUuid, type Uuid } from '../model/ids.ts';
import { typeOf } from '../model/registry.ts';
import { demandRight } from '../model/rights.ts';
import {
  type Measured,
  type SeenInstance,
  type SeenPull,
  shownInstance,
  shownPull,
  shownUsage,
} from './container-shown.ts';
import type { Shell, TerminalSize } from './terminal.ts';
import type { Terminals } from './terminals.ts';

/** What runs containers and jobs, as far as one looks at it and has a hand in it. All but `pulls` reject with 503 without an engine. */
export interface ContainerDesk {
  /** In any state, oldest first. */
  instances(id: Uuid): Promise<SeenInstance[]>;
  /** What each running instance uses; takes a second or two. */
  stats(id: Uuid): Promise<Measured[]>;
  /**
   * Runs a command in an instance, the first one unless (the beginning of) an id is given. Rejects with 409 when there is no such
   * instance, or the command cannot be run or does not end in time.
   */
  exec(id: Uuid, command: readonly string[], instanceId?: string): Promise<ExecOutcome>;
  /** Opens a shell in an instance, chosen as for a command. */
  openShell(id: Uuid, size: TerminalSize, instanceId?: string): Promise<Shell>;
  /** Rejects with 409 or 503 where no shell could be opened now. */
  demandInstance(id: Uuid, instanceId?: string): Promise<void>;
  /** Ends all instances and starts new ones. */
  restart(id: Uuid): Promise<void>;
  pulls(): SeenPull[];
  /** Asks engines that are away now whether they are back; what is known of all engines then. */
  retryEngines(): Promise<ContainerEngineState[]>;
}

/** How many may be measured by one request. */
const MAX_MEASURED = 50;

/** What there is to see and do at containers and jobs beyond their records. */
export function containerRoutes(desk: ContainerDesk, terminals: Terminals, gate: Gate): Router {
  const demandTo = (verb: 'view' | 'update', caller: Caller, id: Uuid): Uuid => {
    const resource = targetOf(gate, id, A_WORKLOAD.of);
    demandRight(gate.judge, { caller, action: `${typeOf(resource).noun}.${verb}`, resource });
    return resource.id;
  };
  return serve(containerRows, gate, {
    listPulls({ caller }) {
      const { sees } = eyesOf(gate, caller);
      return desk
        .pulls()
        .filter(({ recordId }) => sees(recordId))
        .map(shownPull);
    },
    async measureContainers({ caller, query }) {
      const seen = idsIn(query.ids).map((id) => demandTo('view', caller, id));
      const measured = await Promise.all(seen.map((id) => desk.stats(id).then(...usageOrNothing(id))));
      return measured.flat();
    },
    listInstances: async ({ resource }) => (await desk.instances(resource.id)).map(shownInstance),
    measureContainer: async ({ resource }) => shownUsage(resource.id, await desk.stats(resource.id)),
    execInContainer: ({ resource, body }) => desk.exec(resource.id, body.command, body.instance),
    async openTerminal({ req, resource: { id }, query: { instance, columns, rows } }) {
      // Credentials that a browser keeps by itself would open one for any page.
      if (isForeignWrite(req)) throw new PlatformError(403, "open a terminal from the window's own pages");
      await desk.demandInstance(id, instance);
      await terminals.open(req, {
        size: { columns, rows },
        openShell: (size) => desk.openShell(id, size, instance),
        demand: () => demandTo('update', gate.callerOf(req), id),
      });
    },
    restartContainer: ({ resource }) => desk.restart(resource.id),
    retryEngines: () => desk.retryEngines(),
  });
}

/** In a list one that cannot be measured does not spoil the others; only when no engine answers it shows by being empty. */
function usageOrNothing(
  id: Uuid,
): [(measured: Measured[]) => ContainerUsage[], (failure: unknown) => ContainerUsage[]] {
  return [
    (measured) => [shownUsage(id, measured)],
    (failure) => {
      if (failure instanceof PlatformError) return [];
      throw failure;
    },
  ];
}

function idsIn(text = ''): Uuid[] {
  const ids = text === '' ? [] : text.split(',');
  if (ids.length > MAX_MEASURED) {
    throw new PlatformError(400, `'ids' names ${ids.length}, at most ${MAX_MEASURED} are measured at a time`);
  }
  return [...new Set(ids.map((id) => parseUuid(id)))];
}
