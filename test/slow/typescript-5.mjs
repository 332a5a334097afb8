// Gives `openapi-typescript` the TypeScript 5 that it is made for: the native compiler of the project has another interface.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
});
