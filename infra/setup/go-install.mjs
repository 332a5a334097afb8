import { onPath } from './server-locations.mjs';
import { lastLines, runProgram } from './run-program.mjs';
import { StepFailed } from './step.mjs';

/** Builds a Go program at a pinned version into a folder; Go checks the sources against its checksum database. @throws StepFailed */
export async function goInstall(packagePath, version, folder) {
  if (onPath('go').length === 0)
    throw new StepFailed(
      `go install ${packagePath} needs Go, which is not on PATH: install it from https://go.dev/dl/`,
    );
  const { code, output } = await runProgram('go', ['install', `${packagePath}@v${version}`], {
    env: { GOBIN: folder, GOFLAGS: '-buildvcs=false' },
  });
  if (code !== 0) throw new StepFailed(`go install ${packagePath}@v${version} failed: ${lastLines(output)}`);
}
