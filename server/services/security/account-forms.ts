import type { Json } from '../../model/json.ts';
import { derivedId, type StoredResource, type Uuid, type WorldView } from '../../model/record.ts';
import { fqonOf, owningOrganization } from '../../model/rules/hierarchy.ts';
import { membersOf } from '../../model/types/group.ts';

/** The organization's one built-in directory (D-179): its id is derived from the organization's. */
export function directoryId(organization: StoredResource): Uuid {
  return derivedId(organization.id, 'directory');
}

/**
 * Returns the forms of accounts, groups and organizations in the security service (D-178, D-179).
 * @param securityUrl where links lead, without trailing slash
 */
export function accountForms(view: WorldView, securityUrl: string) {
  const accountLink = ({ id, name }: StoredResource) => ({ id, name, href: `${securityUrl}/accounts/${id}` });
  const organizationLink = (organization: StoredResource) => {
    const { id, name } = organization;
    return { id, name, href: `${securityUrl}/${fqonOf(view, organization)}` };
  };
  const directoryLink = (organization: StoredResource) => {
    const name = `${fqonOf(view, organization)}-directory`;
    return { id: directoryId(organization), name, orgId: organization.id };
  };
  const directoryOf = (member: StoredResource) => directoryLink(owningOrganization(view, member));
  const members = (group: StoredResource) => membersOf(group, view).map(accountLink);
  // What is undefined is left out of an answer, never null (D-026).
  return {
    account(user: StoredResource) {
      const { firstName, lastName, email, phoneNumber } = user.properties;
      return {
        id: user.id,
        username: user.name,
        firstName: textOf(firstName) ?? '',
        lastName: textOf(lastName) ?? '',
        description: user.description,
        email: textOf(email),
        phoneNumber: textOf(phoneNumber),
        directory: directoryOf(user),
      };
    },
    group(group: StoredResource) {
      const { id, name, description } = group;
      return { id, name, description, directory: directoryOf(group), disabled: false, accounts: members(group) };
    },
    groupLink: ({ id, name }: StoredResource) => ({ id, name, href: `${securityUrl}/groups/${id}` }),
    members,
    organization(organization: StoredResource) {
      const parent = organization.parent === null ? undefined : owningOrganization(view, organization);
      return {
        id: organization.id,
        name: organization.name,
        fqon: fqonOf(view, organization),
        description: organization.description,
        parent: parent && organizationLink(parent),
        children: view.children(organization.id, 'orgs').map(organizationLink),
      };
    },
    directory: (organization: StoredResource) => ({
      ...directoryLink(organization),
      directoryType: 'INTERNAL' as const,
    }),
    accountStore: (organization: StoredResource) => ({
      id: derivedId(organization.id, 'accountStore'),
      name: `${fqonOf(view, organization)}-accounts`,
      storeType: 'DIRECTORY' as const,
      accountStoreId: directoryId(organization),
      isDefaultAccountStore: true,
      isDefaultGroupStore: true,
    }),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
