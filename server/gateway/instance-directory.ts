import type { Uuid } from '../model/record.ts';

/** A running instance of a container and the address of one of its ports (D-047). */
export interface ServingInstance {
  instanceId: string;
  host: string;
  port: number;
}

/** Provides the instances of a container that can get requests. The container service implements it. */
export interface InstanceDirectory {
  /** The ready instances in a stable order, by a name from `portNameOf`. Called for each request, so it must not do I/O. */
  serving(containerId: Uuid, portName: string): readonly ServingInstance[];
  /** Returns why no instance is ready, for users: completes "container 'shop' is not running: ". */
  unavailableReason(containerId: Uuid): string;
  /** A sentence for users about an instance that runs and does not do what it should, such as listening on its port. */
  complaint?(containerId: Uuid): string | undefined;
}
