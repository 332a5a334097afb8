// Gives `openapi-typescript` the TypeScript 5 that it needs: the native compiler of the project has another API.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
});
