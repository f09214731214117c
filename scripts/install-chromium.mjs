// Installs Debian's Chromium for tests in a browser: only where this is Debian and the user is root, so that nobody's
// machine is changed without their asking. Elsewhere those tests are skipped, and say so.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

export function installChromium() {
  if (process.env.HOLOTYPE_CHROMIUM || existsSync("/usr/bin/chromium") || existsSync("/usr/bin/chromium-browser"))
    return;
  if (!existsSync("/etc/debian_version") || process.getuid?.() !== 0) return;
  console.error("installing Chromium for the tests in a browser …");
  const apt = (...args) =>
    spawnSync("apt-get", ["-qq", ...args], { stdio: ["ignore", "ignore", "inherit"] }).status === 0;
  if (!apt("update") || !apt("install", "-y", "--no-install-recommends", "chromium")) {
    console.error("could not install Chromium; the tests in a browser are skipped");
  }
}
