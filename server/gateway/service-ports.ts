import type { Change } from '../model/commit.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { reasonOf } from '../model/reason.ts';
import { CONTAINER } from '../model/types/container.ts';
import { servicePortNames } from '../model/types/port-mappings.ts';
import type { WorldView } from '../model/world-view.ts';
import type { InstanceDirectory } from './instance-directory.ts';
import { InstanceTurns } from './instance-turns.ts';
import { ServicePort } from './service-port.ts';

/** A port that was given to a port mapping of a container; its key is `<container id>/<port name>`. */
export interface ServicePortRecord {
  port: number;
}

/** What the ports stand on. */
export interface ServicePortsOptions {
  /** The present world, already loaded. */
  view: WorldView;
  directory: InstanceDirectory;
  /** Name or address to listen on. */
  host: string;
  /** Where given ports are kept. */
  ports: KeyedLog<ServicePortRecord>;
  /** Epoch milliseconds. */
  nowMs(): number;
  onWarning(message: string): void;
}

/**
 * One TCP port of the emulator for each port that a container shows to the outside (`external`, `loadBalancer`): it is kept
 * over restarts, goes with the container, and leads round robin to the instances that serve (D-047).
 */
export class ServicePorts {
  readonly #options: ServicePortsOptions;
  readonly #turns: InstanceTurns;
  readonly #open = new Map<Uuid, Map<string, ServicePort>>();
  /** One change after the other, so that the last one wins. */
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(options: ServicePortsOptions) {
    this.#options = options;
    this.#turns = new InstanceTurns(options.directory, options.nowMs);
  }

  /** Listens for every container of the world, and forgets the ports of those that are gone. What fails is a warning. */
  async start(): Promise<void> {
    const { view, ports } = this.#options;
    for (const key of [...ports.entries()].map(([key]) => key)) {
      const [id = '', ...name] = key.split('/');
      if (!this.#asked(id).includes(name.join('/'))) await ports.remove(key);
    }
    for (const { id } of view.all('containers')) this.#follow(id);
    await this.settled();
  }

  /** Follows the world: feed it what each commit changed, once the view shows it. */
  changed(changes: readonly Change[]): void {
    for (const { before, after } of changes) {
      const record = after ?? before;
      if (record?.type === CONTAINER) this.#follow(record.id);
    }
  }

  /**
   * The port of a container's port mapping, for `service_port`; undefined when nothing listens (yet).
   *
   * @param portName as `portNameOf` (model/types/port-mappings.ts) tells it
   */
  portOf(containerId: Uuid, portName: string): number | undefined {
    return this.#open.get(containerId)?.get(portName)?.port;
  }

  /** Resolves when everything listens that the world asked for up to now. */
  settled(): Promise<void> {
    return this.#work;
  }

  /** Sends no new connection to an instance that is about to go. Resolves when those it has are closed, or cut after that time. */
  drain(instanceId: string, timeoutMs: number): Promise<void> {
    return this.#turns.drain(instanceId, timeoutMs);
  }

  /** Closes every port and every connection. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
    const open = [...this.#open.values()].flatMap((byName) => [...byName.values()]);
    this.#open.clear();
    await Promise.all(open.map((port) => port.close()));
    this.#turns.stop();
  }

  #follow(containerId: Uuid): void {
    this.#work = this.#work.then(() => this.#reconcile(containerId));
  }

  #asked(containerId: Uuid): readonly string[] {
    const container = this.#options.view.find(containerId);
    return container?.type === CONTAINER ? servicePortNames(container) : [];
  }

  async #reconcile(containerId: Uuid): Promise<void> {
    if (this.#isStopped) return;
    const asked = this.#asked(containerId);
    const open = this.#open.get(containerId) ?? new Map<string, ServicePort>();
    for (const [name, port] of open) if (!asked.includes(name)) await this.#close(containerId, name, port);
    for (const name of asked) if (!open.has(name)) await this.#listen(containerId, name);
  }

  async #close(containerId: Uuid, portName: string, port: ServicePort): Promise<void> {
    const open = this.#open.get(containerId);
    open?.delete(portName);
    if (open?.size === 0) this.#open.delete(containerId);
    await port.close();
    await this.#keep(() => this.#options.ports.remove(`${containerId}/${portName}`));
  }

  async #listen(containerId: Uuid, portName: string): Promise<void> {
    const { host, ports, view, onWarning } = this.#options;
    const key = `${containerId}/${portName}`;
    const kept = ports.get(key)?.port ?? 0;
    const where = `port '${portName}' of container '${view.find(containerId)?.name}'`;
    const listen = (port: number) => ServicePort.listen({ host, port, containerId, portName, turns: this.#turns });
    try {
      const port = await listen(kept).catch(async (fault: NodeJS.ErrnoException) => {
        if (kept === 0) throw fault;
        const other = await listen(0);
        onWarning(`${where} was at ${kept}, which cannot be had (${fault.code}); it is at ${other.port} now`);
        return other;
      });
      const open = this.#open.get(containerId) ?? new Map<string, ServicePort>();
      this.#open.set(containerId, open.set(portName, port));
      if (port.port !== kept) await this.#keep(() => ports.put(key, { port: port.port }));
    } catch (fault) {
      const reason = reasonOf(fault);
      onWarning(`${where} cannot be published on ${host}: ${reason}`);
    }
  }

  /** A port that is not remembered is another one after a restart, no more. */
  async #keep(write: () => Promise<unknown>): Promise<void> {
    await write().catch((fault: Error) => this.#options.onWarning(`a service port was not saved: ${fault.message}`));
  }
}
