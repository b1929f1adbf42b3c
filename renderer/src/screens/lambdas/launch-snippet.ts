/**
 * Returns the configuration that VS Code needs in `.vscode/launch.json` to attach to the lambda's process, and to each process after an
 * edit.
 */
export function launchSnippet(lambdaName: string, url: string): string {
  return JSON.stringify(
    {
      version: '0.2.0',
      configurations: [
        {
          type: 'node',
          request: 'attach',
          name: `Terrarium: ${lambdaName}`,
          websocketAddress: url,
          restart: true,
          skipFiles: ['<node_internals>/**'],
        },
      ],
    },
    null,
    2,
  );
}

/** Returns an address that opens Chrome's debugger when pasted: `chrome://inspect` finds no process whose id is not published. */
export function chromeAddress(url: string): string {
  return `devtools://devtools/bundled/js_app.html?v8only=true&ws=${url.replace('ws://', '')}`;
}
