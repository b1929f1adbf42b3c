/** Option of the push of a commit whose pipeline runs locally. */
export const LOCAL_RUN = 'terrarium.local-run';

/** The requests of a push's options. */
export interface PushOptions {
  skipsPipelines: boolean;
  variables: Record<string, string>;
  /** Undefined: nothing about merge requests. */
  mergeRequest: MergeRequestOptions | undefined;
  /** Names of options that have no effect. */
  unsupported: string[];
}

export interface MergeRequestOptions {
  isCreated: boolean;
  isDraft: boolean;
  target?: string;
  title?: string;
  description?: string;
  removesSourceBranch?: true;
  added: string[];
  removed: string[];
}

/** The members that each option of merge requests sets. */
const MEMBERS: Readonly<Record<string, (value: string, before: MergeRequestOptions) => Partial<MergeRequestOptions>>> =
  {
    create: () => ({ isCreated: true }),
    draft: () => ({ isDraft: true }),
    target: (target) => ({ target }),
    title: (title) => ({ title }),
    description: (description) => ({ description }),
    remove_source_branch: () => ({ removesSourceBranch: true }),
    label: (label, { added }) => ({ added: [...added, label] }),
    unlabel: (label, { removed }) => ({ removed: [...removed, label] }),
  };

/** Reads options as `git push -o` sends them: `NAME` or `NAME=VALUE`. */
export function readPushOptions(options: readonly string[]): PushOptions {
  const mergeRequest: MergeRequestOptions = { isCreated: false, isDraft: false, added: [], removed: [] };
  const read: PushOptions = { skipsPipelines: false, variables: {}, mergeRequest: undefined, unsupported: [] };
  for (const option of options) {
    const [, name = option, value = ''] = /^([^=]*)=(.*)$/s.exec(option) ?? [];
    // `mr` is the short name, as on the real server.
    const [, ofMergeRequest = ''] = /^(?:merge_request|mr)\.(\w+)$/.exec(name) ?? [];
    const membersOf = Object.hasOwn(MEMBERS, ofMergeRequest) ? MEMBERS[ofMergeRequest] : undefined;
    const [, key, text = ''] = /^ci\.variable="?(\w+)=(.*?)"?$/s.exec(option) ?? [];
    if (membersOf) read.mergeRequest = Object.assign(mergeRequest, membersOf(value, mergeRequest));
    else if (option === 'ci.skip') read.skipsPipelines = true;
    else if (key !== undefined) read.variables[key] = text;
    else if (option !== LOCAL_RUN) read.unsupported.push(name);
  }
  return read;
}
