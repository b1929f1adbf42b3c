/** What a reader of the document should know first, in Markdown. */
export function introduction(baseUrl: string, typePrefix: string): string {
  return `A local emulator of the Platform Management REST API. Organizations hold workspaces, workspaces hold environments, and
environments are where containers and lambdas live.

**Authentication.** Get a token and send it as \`Authorization: Bearer ...\`, or send an API key and its secret as Basic:

\`\`\`sh
curl ${baseUrl}/security/root/oauth/issue -d grant_type=password -d username=root -d password=...
\`\`\`

**Records.** Lists give links, and whole records with \`?expand=true\`. Members marked read-only may be sent and are ignored,
so a record that was read can be posted again. Full names of types begin with \`${typePrefix}::\`; on input any first word will do.

**Changes** are JSON Patches (RFC 6902); containers, jobs, secrets, volumes and entitlements can also be replaced by PUT.`;
}
