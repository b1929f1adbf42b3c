/* How lambdas post a form with real libraries: each expression settles with status and text of the answer. */
const AT = "'https://crm.example/lead'";
const BODY = "'lead=1'";

/** Code for each library that posts `lead=1` to https://crm.example/lead. `got()` must be defined. */
export const libraries: Record<string, string> = {
  axios: `require('axios').post(${AT}, ${BODY}, { validateStatus: null }).then((r) => r.status + ' ' + r.data)`,
  'axios with fetch': `require('axios').post(${AT}, ${BODY}, { adapter: 'fetch', validateStatus: null }).then((r) => r.status + ' ' + r.data)`,
  'node-fetch': `import('file://' + require.resolve('node-fetch')).then(({ default: f }) => f(${AT}, { method: 'POST', body: ${BODY} })).then(async (r) => r.status + ' ' + await r.text())`,
  got: `got().then((g) => g.post(${AT}, { body: ${BODY}, throwHttpErrors: false, retry: { limit: 0 } })).then((r) => r.statusCode + ' ' + r.body)`,
  'got with HTTP/2': `got().then((g) => g.post(${AT}, { body: ${BODY}, http2: true, throwHttpErrors: false, retry: { limit: 0 } })).then((r) => r.statusCode + ' ' + r.body)`,
  request: `new Promise((ok, no) => require('request').post({ url: ${AT}, body: ${BODY} }, (e, r, body) => e ? no(e) : ok(r.statusCode + ' ' + body)))`,
  superagent: `require('superagent').post(${AT}).type('form').send(${BODY}).ok(() => true).then((r) => r.status + ' ' + r.text)`,
  needle: `require('needle')('post', ${AT}, ${BODY}, { parse: false }).then((r) => r.statusCode + ' ' + r.body)`,
  ky: `import('file://' + require.resolve('ky')).then(({ default: k }) => k.post(${AT}, { body: ${BODY}, throwHttpErrors: false, retry: 0 })).then(async (r) => r.status + ' ' + await r.text())`,
  'undici fetch': `require('undici').fetch(${AT}, { method: 'POST', body: ${BODY} }).then(async (r) => r.status + ' ' + await r.text())`,
  'undici request': `require('undici').request(${AT}, { method: 'POST', body: ${BODY} }).then(async (r) => r.statusCode + ' ' + await r.body.text())`,
  'undici pool': `new (require('undici').Pool)('https://crm.example').request({ path: '/lead', method: 'POST', body: ${BODY} }).then(async (r) => r.statusCode + ' ' + await r.body.text())`,
  jsforce: `new Promise((ok, no) => new (require('jsforce').Connection)({ instanceUrl: 'https://crm.example', accessToken: 'a' }).request({ method: 'POST', url: ${AT}, body: ${BODY}, headers: { 'content-type': 'text/plain' } }, { noContentResponse: true }).then((r) => ok('200 ' + r), (e) => e.code ? no(e) : ok(e.message.includes('Answered') ? '503 ' + e.message : String(e))))`,
  fetch: `fetch(${AT}, { method: 'POST', body: ${BODY} }).then(async (r) => r.status + ' ' + await r.text())`,
  https: `new Promise((ok, no) => { const sent = require('https').request(${AT}, { method: 'POST' }, (r) => { let t = ''; r.on('data', (d) => { t += d }).on('end', () => ok(r.statusCode + ' ' + t)) }).on('error', no); sent.end(${BODY}) })`,
  'https with an array of headers': `new Promise((ok, no) => { const sent = require('https').request(${AT}, { method: 'POST', headers: ['host', 'crm.example', 'content-length', '6'] }, (r) => { let t = ''; r.on('data', (d) => { t += d }).on('end', () => ok(r.statusCode + ' ' + t)) }).on('error', no); sent.end(${BODY}) })`,
  http2: `new Promise((ok, no) => { const s = require('http2').connect('https://crm.example').on('error', no); let status, t = '';
    const r = s.request({ ':path': '/lead', ':method': 'POST' }).on('response', (h) => { status = h[':status'] }).on('data', (d) => { t += d }).on('end', () => { s.close(); ok(status + ' ' + t) }).on('error', () => {}); r.end(${BODY}) })`,
  'raw tls': raw("require('tls').connect({ host: 'crm.example', port: 443, servername: 'crm.example' }, say)"),
  'raw tls by port and host': raw("require('tls').connect(443, 'crm.example', {}, say)"),
  'raw net': raw("require('net').connect(80, 'crm.example', say)"),
  'a worker thread': `new Promise((ok, no) => new (require('worker_threads').Worker)(\`
    fetch(${AT}, { method: 'POST', body: ${BODY} }).then(async (r) => r.status + ' ' + await r.text(), (e) => 'error ' + (e.cause || e).code).then((t) => require('worker_threads').parentPort.postMessage(t))\`, { eval: true })
    .on('error', no).on('message', (t) => { const [, code] = /^error (.*)/.exec(t) || []; code ? no({ code }) : ok(t) }))`,
  'a Node child process': child("require('child_process').execFile(process.execPath, ['-e', source], done)"),
  'a Node child process with an environment of its own': child(
    "require('child_process').execFile('node', ['-e', source], { env: { PATH: process.env.PATH } }, done)",
  ),
  'a Node child process of a shell': child("require('child_process').exec('node -e \"' + source + '\"', done)"),
  'a Node child process that is waited for': `new Promise((ok, no) => { ${SOURCE()} const t = require('child_process').execFileSync(process.execPath, ['-e', source]).toString().trim(); const [, code] = /^error (.*)/.exec(t) || []; code ? no({ code }) : ok(t) })`,
};

/** HTTP by hand. */
function raw(connect: string): string {
  return `new Promise((ok, no) => { const say = () => s.write('POST /lead HTTP/1.1\\r\\nHost: crm.example\\r\\nConnection: close\\r\\nContent-Length: 6\\r\\n\\r\\nlead=1');
    let t = ''; const s = ${connect}; s.on('error', no).on('data', (d) => { t += d }).on('end', () => ok(t.slice(9, 12) + ' ' + t.split('\\r\\n\\r\\n')[1].replace(/^[0-9a-f]+\\r\\n|\\r\\n0$/g, ''))) })`;
}

function SOURCE(): string {
  return `const source = \`fetch('https://crm.example/lead', { method: 'POST', body: 'lead=1' }).then(async (r) => console.log(r.status + ' ' + await r.text()), (e) => console.log('error ' + e.cause.code))\`;`;
}

function child(run: string): string {
  return `new Promise((ok, no) => { ${SOURCE()} const done = (e, out) => { const t = String(out).trim(); const [, code] = /^error (.*)/.exec(t) || []; e ? no(e) : code ? no({ code }) : ok(t) }; ${run} })`;
}
