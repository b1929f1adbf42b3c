import tailwind from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { typeKinds } from '../server/api/routes/type-naming.ts';

/** The running emulator that `npx vite renderer` speaks to while one works on the window. */
const emulator = process.env.TERRARIUM_URL ?? 'http://127.0.0.1:4700';

/** Packages that every screen needs, in separate chunks: they stay cached when only our code changes. */
const PARTS = [
  { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler)[\\/]/ },
  { name: 'tanstack', test: /node_modules[\\/]@tanstack[\\/]/ },
  { name: 'editor', test: /node_modules[\\/](@codemirror|@lezer|codemirror|style-mod|crelt|w3c-keyname)[\\/]/ },
];

export default defineConfig({
  root: import.meta.dirname,
  base: '/ui/',
  plugins: [react(), tailwind()],
  define: { TYPE_KINDS: JSON.stringify(typeKinds()) },
  build: {
    outDir: '../dist/renderer',
    // A page that is still open may yet load a part of the build before this one; scripts/build.mjs removes old ones.
    emptyOutDir: false,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // No script and no data in the page itself: the content security policy allows files of our own only.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: { output: { codeSplitting: { groups: PARTS } } },
  },
  server: {
    proxy: Object.fromEntries(
      ['/meta', '/security', '/inspect', '/log', '/docs', '/openapi', '/ui/html-frame'].map((path) => [
        path,
        { target: emulator, changeOrigin: true, ws: true },
      ]),
    ),
  },
});
