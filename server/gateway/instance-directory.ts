import type { Uuid } from '../model/ids.ts';

/** A running instance of a container and where one of its ports is reached from here (D-047). */
export interface ServingInstance {
  /** The engine's id: never used again for another instance. */
  instanceId: string;
  /** Name or address of the machine that publishes the port. */
  host: string;
  port: number;
}

/** Who knows which instances of a container can be sent requests now. The container service implements it. */
export interface InstanceDirectory {
  /**
   * Instances that are ready, in any order that stays the same while they do. Asked for each request: answered from memory.
   *
   * @param portName as `portNameOf` (model/types/port-mappings.ts) tells it of a port mapping; an unknown one is served by none
   */
  serving(containerId: Uuid, portName: string): readonly ServingInstance[];
  /** Why there are none, for a person: the part of a sentence after "container 'shop' is not running: ". */
  whyNotServing(containerId: Uuid): string;
}
