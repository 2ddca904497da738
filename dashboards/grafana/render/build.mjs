// Bundles src/render.tsx into build/dashboards/render.js and render.css. Run in this folder.
import path from 'node:path';
import { build } from 'esbuild';

const resolvers = {
  name: 'grafana-outside-grafana',
  setup(b) {
    b.onResolve({ filter: /^react-router-dom-v5-compat$/ }, () => ({ path: path.resolve('node_modules/react-router-dom/dist/index.js') }));
    const fromCompat = (file) => (a) => (a.importer.includes('plugin-compat') ? { path: path.resolve(file) } : undefined);
    b.onResolve({ filter: /^@grafana\/runtime$/ }, fromCompat('src/shim-runtime.mjs'));
    b.onResolve({ filter: /^@grafana\/runtime\/unstable$/ }, fromCompat('src/shim-unstable.mjs'));
  },
};

await build({
  entryPoints: ['src/render.tsx'], outfile: '../../../build/dashboards/render.js', bundle: true, minify: true, format: 'iife', jsx: 'automatic',
  plugins: [resolvers], mainFields: ['browser', 'module', 'main'], logLevel: 'error',
  define: { 'process.env.NODE_ENV': '"production"', 'process.env': '{}', global: 'globalThis' },
  loader: { '.svg': 'dataurl', '.png': 'dataurl', '.gif': 'dataurl', '.woff2': 'empty', '.woff': 'empty', '.ttf': 'empty' },
});
