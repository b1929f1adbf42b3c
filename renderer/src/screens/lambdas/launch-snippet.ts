/** What VS Code needs in `.vscode/launch.json` to attach to the lambda's process; it attaches again when the code has changed. */
export function launchSnippet(lambdaName: string, url: string): string {
  const { hostname, port } = new URL(url);
  return JSON.stringify(
    {
      version: '0.2.0',
      configurations: [
        {
          type: 'node',
          request: 'attach',
          name: `Terrarium: ${lambdaName}`,
          address: hostname,
          port: Number(port),
          restart: true,
          skipFiles: ['<node_internals>/**'],
        },
      ],
    },
    null,
    2,
  );
}

/** The address without the id: what most debuggers ask for. */
export function debugAddress(url: string): string {
  return new URL(url).host;
}
