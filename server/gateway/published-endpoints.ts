import { hostNameOf } from '../api/server/host-guard.ts';
import type { Change } from '../model/commit.ts';
import { memberOf } from '../model/json.ts';
import type { StoredResource, Uuid, WorldView } from '../model/record.ts';
import { API } from '../model/types/api.ts';
import { API_ENDPOINT } from '../model/types/apiendpoint.ts';
import { isGateway } from '../model/types/provider-rules.ts';
import { type Endpoint, prepareEndpoint } from './endpoint.ts';
import { RouteTable } from './route-table.ts';

export class PublishedEndpoints extends RouteTable<Endpoint> {
  readonly #view: WorldView;
  readonly #byId = new Map<Uuid, Endpoint>();
  /** Host names of the gateway's public addresses, by gateway provider (D-150). */
  readonly #publicHosts = new Map<Uuid, string>();

  constructor(view: WorldView) {
    super();
    this.#view = view;
    for (const provider of view.all('providers')) this.#publishHost(provider);
    for (const endpoint of view.all('apiendpoints')) this.#publish(endpoint);
  }

  /** Applies a change that the view must already show. Routes change immediately (D-098). */
  changed({ before, after }: Change): void {
    const record = after ?? before;
    if (record?.type === API_ENDPOINT) {
      if (after) this.#publish(after);
      else this.#withdraw(record.id);
    } else if (before && after?.type === API && before.name !== after.name) {
      for (const endpoint of this.#view.children(after.id, 'apiendpoints')) this.#publish(endpoint);
    } else if (record && isGateway(record.type)) {
      this.#publicHosts.delete(record.id);
      if (after) this.#publishHost(after);
    }
  }

  all(): Iterable<Endpoint> {
    return this.#byId.values();
  }

  override hasHost(host: string): boolean {
    return super.hasHost(host) || [...this.#publicHosts.values()].includes(host);
  }

  #publish(record: StoredResource): void {
    const previous = this.#withdraw(record.id);
    const api = record.parent === null ? undefined : this.#view.find(record.parent);
    if (!api) return;
    const endpoint = prepareEndpoint(record, api.name, previous);
    this.#byId.set(record.id, endpoint);
    this.add(endpoint);
  }

  #withdraw(id: Uuid): Endpoint | undefined {
    const endpoint = this.#byId.get(id);
    if (!endpoint) return undefined;
    this.#byId.delete(id);
    this.remove(endpoint);
    return endpoint;
  }

  #publishHost(provider: StoredResource): void {
    if (!isGateway(provider.type)) return;
    const env = memberOf(memberOf(provider.properties.config, 'env'), 'public');
    const address = memberOf(env, 'PUBLIC_URL_VHOST_0');
    const host = typeof address === 'string' ? hostNameOf(address) : undefined;
    if (host) this.#publicHosts.set(provider.id, host);
  }
}
