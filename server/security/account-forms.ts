import { fqonOf, owningOrganization } from '../model/hierarchy.ts';
import { derivedId, type Uuid } from '../model/ids.ts';
import type { Json } from '../model/json.ts';
import type { StoredResource } from '../model/record.ts';
import { membersOf } from '../model/types/group.ts';
import type { WorldView } from '../model/world-view.ts';

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

  account(user: StoredResource) {
    const { firstName, lastName, email, phoneNumber } = user.properties;
    return {
      id: user.id,
      username: user.name,
      firstName: textOf(firstName) ?? '',
      lastName: textOf(lastName) ?? '',
      ...present('description', user.description),
      ...present('email', textOf(email)),
      ...present('phoneNumber', textOf(phoneNumber)),
      directory: this.#directoryOf(user),
    };
  }

  accountLink(user: StoredResource) {
    return { id: user.id, name: user.name, href: `${this.#securityUrl}/accounts/${user.id}` };
  }

  group(group: StoredResource) {
    return {
      id: group.id,
      name: group.name,
      ...present('description', group.description),
      directory: this.#directoryOf(group),
      disabled: false,
      accounts: this.members(group),
    };
  }

  groupLink(group: StoredResource) {
    return { id: group.id, name: group.name, href: `${this.#securityUrl}/groups/${group.id}` };
  }

  /** Links of the accounts in a group. */
  members(group: StoredResource) {
    return membersOf(group, this.#view).map((user) => this.accountLink(user));
  }

  organization(organization: StoredResource) {
    const parent = organization.parent === null ? undefined : owningOrganization(this.#view, organization);
    return {
      id: organization.id,
      name: organization.name,
      fqon: fqonOf(this.#view, organization),
      ...present('description', organization.description),
      ...present('parent', parent && this.#organizationLink(parent)),
      children: this.#view.children(organization.id, 'orgs').map((child) => this.#organizationLink(child)),
    };
  }

  directory(organization: StoredResource) {
    return { ...this.#directoryLink(organization), directoryType: 'INTERNAL' as const };
  }

  accountStore(organization: StoredResource) {
    return {
      id: derivedId(organization.id, 'accountStore'),
      name: `${fqonOf(this.#view, organization)}-accounts`,
      storeType: 'DIRECTORY' as const,
      accountStoreId: directoryId(organization),
      isDefaultAccountStore: true,
      isDefaultGroupStore: true,
    };
  }

  #organizationLink(organization: StoredResource) {
    const fqon = fqonOf(this.#view, organization);
    return { id: organization.id, name: organization.name, href: `${this.#securityUrl}/${fqon}` };
  }

  #directoryOf(member: StoredResource) {
    return this.#directoryLink(owningOrganization(this.#view, member));
  }

  #directoryLink(organization: StoredResource) {
    const name = `${fqonOf(this.#view, organization)}-directory`;
    return { id: directoryId(organization), name, orgId: organization.id };
  }
}

/** A member that is there: an absent one is left out, never null (D-026). */
function present<Name extends string, T>(name: Name, value: T | undefined): { [N in Name]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [N in Name]?: T }); // a computed name is any text to TypeScript
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
