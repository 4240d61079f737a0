import { defineConfig } from "vite";

/** The files are served by the service itself, below `/console`; `build.mjs` compresses them afterwards. */
export default defineConfig({
  root: import.meta.dirname,
  base: "/console/",
  logLevel: "warn",
  esbuild: { jsx: "automatic", legalComments: "none" },
  build: {
    outDir: "../server/dist/console",
    emptyOutDir: true,
    target: "es2023",
    // Every browser that has passkeys loads modules without it, and it would be an inline script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // A file that is inlined as a data URL is refused by the Content-Security-Policy.
    assetsInlineLimit: 0,
    sourcemap: false,
    rollupOptions: {
      onwarn: (warning, warn) => {
        // Marks of libraries for servers that render pages, which this is not.
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
    },
  },
});
