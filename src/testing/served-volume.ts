/** A fixture behind a server: the tests see the remote volume, the server whatever volume the fixture has at the moment. */
import { RemoteVolume, type Volume } from "../store/index.ts";
import { serveVolume, type VolumeServerOptions } from "../volumed/index.ts";

export interface Served {
  readonly volume: Volume;
}

export async function serveFixture<F extends Served & AsyncDisposable>(
  fixture: F,
  options: VolumeServerOptions = {},
): Promise<F & { readonly volume: RemoteVolume }> {
  const server = await serveVolume(currentOf(fixture), options);
  const volume = new RemoteVolume({ url: server.url, deadlines: { answerTimeoutMs: 10_000 } });
  return new Proxy(fixture, {
    get: (target, name) => {
      if (name === "volume") return volume;
      if (name !== Symbol.asyncDispose) return Reflect.get(target, name) as unknown;
      return async () => {
        await volume[Symbol.asyncDispose]();
        await server.close();
        await target[Symbol.asyncDispose]();
      };
    },
  }) as F & { readonly volume: RemoteVolume };
}

/** The fixture's volume, also when that is another one later. The server does not close it. */
function currentOf(fixture: Served): Volume {
  return new Proxy({} as Volume, {
    get: (_, name) => {
      if (name === Symbol.asyncDispose) return () => Promise.resolve();
      const value = Reflect.get(fixture.volume, name) as unknown;
      return typeof value === "function" ? (value.bind(fixture.volume) as unknown) : value;
    },
  });
}
