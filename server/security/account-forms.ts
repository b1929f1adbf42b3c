import { fqonOf, owningOrganization } from '../model/hierarchy.ts';
import { derivedId, type Uuid } from '../model/ids.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import type { WorldView } from '../model/world-view.ts';
import { membersOf } from './accounts.ts';

/** The organization's one built-in directory (D-179): its id is derived from the organization's. */
export function directoryId(organization: StoredResource): Uuid {
  return derivedId(organization.id, 'directory');
}

/** What the security service shows of accounts, groups and organizations (D-178, D-179). */
export class AccountForms {
  readonly #view: WorldView;
  readonly #securityUrl: string;

  /** @param securityUrl where links lead, without trailing slash */
  constructor(view: WorldView, securityUrl: string) {
    this.#view = view;
    this.#securityUrl = securityUrl;
  }

  account(user: StoredResource): JsonObject {
    const { firstName = '', lastName = '', email, phoneNumber } = user.properties;
    return {
      id: user.id,
      username: user.name,
      firstName,
      lastName,
      ...present({ description: user.description, email, phoneNumber }),
      directory: this.#directoryOf(user),
    };
  }

  accountLink(user: StoredResource): JsonObject {
    return { id: user.id, name: user.name, href: `${this.#securityUrl}/accounts/${user.id}` };
  }

  group(group: StoredResource): JsonObject {
    return {
      id: group.id,
      name: group.name,
      ...present({ description: group.description }),
      directory: this.#directoryOf(group),
      disabled: false,
      accounts: this.members(group),
    };
  }

  groupLink(group: StoredResource): JsonObject {
    return { id: group.id, name: group.name, href: `${this.#securityUrl}/groups/${group.id}` };
  }

  /** Links of the accounts in a group. */
  members(group: StoredResource): JsonObject[] {
    return membersOf(this.#view, group).map((user) => this.accountLink(user));
  }

  organization(organization: StoredResource): JsonObject {
    const parent = organization.parent === null ? undefined : owningOrganization(this.#view, organization);
    return {
      id: organization.id,
      name: organization.name,
      fqon: fqonOf(this.#view, organization),
      ...present({ description: organization.description, parent: parent && this.#organizationLink(parent) }),
      children: this.#view.children(organization.id, 'orgs').map((child) => this.#organizationLink(child)),
    };
  }

  directory(organization: StoredResource): JsonObject {
    return { ...this.#directoryLink(organization), directoryType: 'INTERNAL' };
  }

  accountStore(organization: StoredResource): JsonObject {
    return {
      id: derivedId(organization.id, 'accountStore'),
      name: `${fqonOf(this.#view, organization)}-accounts`,
      storeType: 'DIRECTORY',
      accountStoreId: directoryId(organization),
      isDefaultAccountStore: true,
      isDefaultGroupStore: true,
    };
  }

  #organizationLink(organization: StoredResource): JsonObject {
    const fqon = fqonOf(this.#view, organization);
    return { id: organization.id, name: organization.name, href: `${this.#securityUrl}/${fqon}` };
  }

  #directoryOf(member: StoredResource): JsonObject {
    return this.#directoryLink(owningOrganization(this.#view, member));
  }

  #directoryLink(organization: StoredResource): JsonObject {
    const name = `${fqonOf(this.#view, organization)}-directory`;
    return { id: directoryId(organization), name, orgId: organization.id };
  }
}

/** The members that are there: absent ones are left out, never null (D-026). */
function present(members: Record<string, Json | undefined>): JsonObject {
  // The filter has just taken away what Json has not.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject;
}
