package interop;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;

import com.helger.base.debug.GlobalDebug;
import com.helger.collection.commons.CommonsArrayList;
import com.helger.collection.commons.ICommonsList;
import com.helger.http.EHttpMethod;
import com.helger.phase4.crypto.AS4CryptoFactoryInMemoryKeyStore;
import com.helger.phase4.crypto.IAS4CryptoFactory;
import com.helger.phase4.incoming.AS4RequestHandler;
import com.helger.phase4.incoming.AS4ServerInitializer;
import com.helger.phase4.incoming.mgr.AS4ProfileSelector;
import com.helger.phase4.incoming.spi.IAS4IncomingMessageProcessorSPI;
import com.helger.phase4.profile.peppol.AS4PeppolProfileRegistarSPI;
import com.helger.phase4.servlet.AS4UnifiedResponse;
import com.helger.phase4.servlet.AS4XServletHandler;
import com.helger.phase4.servlet.IAS4ServletRequestHandlerCustomizer;
import com.helger.web.scope.IRequestWebScopeWithoutResponse;
import com.helger.web.scope.mgr.WebScopeManager;
import com.helger.xservlet.AbstractXServlet;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * phase4 with its Peppol profile as a receiver, on Jetty, on a free port of this machine. Everything that phase4 remembers is in memory, as by its
 * default. <code>/as4</code> is the receiver of the test PKI; <code>/impostor</code> can read the same messages, and signs with the key of another
 * access point. It ends when its standard input does.
 */
public final class Receiver {
  private static final String PASSWORD = "interop";
  private static final String ALIAS = "ap";

  private Receiver() {}

  /** @param args the folder with the keys, and the one that payloads go to */
  public static void main(String[] args) throws Exception {
    Path keys = Path.of(args[0]);
    IAS4CryptoFactory receiver = identity(keys, "receiver");
    IAS4CryptoFactory impostor = identity(keys, "sender-2");
    var processors = new CommonsArrayList<IAS4IncomingMessageProcessorSPI>(new Keep(Path.of(args[1])));
    GlobalDebug.setDebugModeDirect(false);
    Logger.getLogger("").setLevel(Level.SEVERE); // the XML signature library warns of every payload

    Server server = new Server();
    ServerConnector connector = new ServerConnector(server);
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler("/", ServletContextHandler.NO_SESSIONS);
    context.addEventListener(new Life(servlets -> {
      servlets.addServlet("as4", new Endpoint(receiver, receiver, processors)).addMapping("/as4");
      // A class of its own: phase4's library counts the servlets of a class.
      servlets.addServlet("impostor", new Endpoint(impostor, receiver, processors) {}).addMapping("/impostor");
    }));
    server.setHandler(context);
    server.start();
    System.out.println("listening http://127.0.0.1:" + connector.getLocalPort() + "/as4");
    while (System.in.read() >= 0) continue; // whoever started it may have been killed
    server.stop();
    System.exit(0); // phase4 leaves threads behind
  }

  private static IAS4CryptoFactory identity(Path keys, String name) throws Exception {
    KeyStore own = store(keys.resolve(name + ".p12"));
    return new AS4CryptoFactoryInMemoryKeyStore(own, ALIAS, PASSWORD.toCharArray(), store(keys.resolve("trust.p12")));
  }

  private static KeyStore store(Path file) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD.toCharArray());
    }
    return store;
  }

  /** phase4's own state begins and ends with that of the web application; its servlets cannot be made before. */
  private static final class Life implements ServletContextListener {
    private final Consumer<ServletContext> endpoints;

    Life(Consumer<ServletContext> endpoints) {
      this.endpoints = endpoints;
    }

    @Override
    public void contextInitialized(ServletContextEvent event) {
      WebScopeManager.onGlobalBegin(event.getServletContext());
      AS4ProfileSelector.setCustomDefaultAS4ProfileID(AS4PeppolProfileRegistarSPI.AS4_PROFILE_ID);
      AS4ServerInitializer.initAS4Server();
      endpoints.accept(event.getServletContext());
    }

    @Override
    public void contextDestroyed(ServletContextEvent event) {
      AS4ServerInitializer.shutdownAS4Server();
      WebScopeManager.onGlobalEnd();
    }
  }

  private static class Endpoint extends AbstractXServlet {
    private static final long serialVersionUID = 1;

    Endpoint(IAS4CryptoFactory signing, IAS4CryptoFactory decrypting, ICommonsList<IAS4IncomingMessageProcessorSPI> processors) {
      settings().setMultipartEnabled(false); // the parts are phase4's to read
      handlerRegistry().registerHandler(EHttpMethod.POST, new AS4XServletHandler().setRequestHandlerCustomizer(
          new IAS4ServletRequestHandlerCustomizer() {
            @Override
            public void customizeBeforeHandling(IRequestWebScopeWithoutResponse scope, AS4UnifiedResponse response, AS4RequestHandler handler) {
              handler.setCryptoFactorySign(signing).setCryptoFactoryCrypt(decrypting).setProcessorSupplier(() -> processors);
            }

            @Override
            public void customizeAfterHandling(IRequestWebScopeWithoutResponse scope, AS4UnifiedResponse response, AS4RequestHandler handler) {}
          }));
    }
  }
}
