//! Fast BSS transition (802.11-2020, 13.5 to 13.8): over the air in four frames, or over the DS
//! through the old AP.
//!
//! Takes a [`Link`] to the target AP and the XXKey of the mobility domain at each end; gives
//! authentication (or FT action) and reassociation frames, a PTK and group keys. The target holds the
//! PMK-R1 that the R0 key holder pushed to it before. Never scans.

mod config;

use airtoll_wire::ieee80211::element::{Elements, id};
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::ft::FteRepr;
use airtoll_wire::ieee80211::management::{algorithm, category};
use airtoll_wire::ieee80211::{Management, ManagementRepr, RsnRepr};

pub use config::FtConfig;

use self::config::{Derived, fte};
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure, reason, status};
use crate::link::agreed::{AuthenticationFields, Link, element, read_management};
use crate::link::key_handshake::GroupKeys;
use crate::resend::Resend;
use airtoll_security::keys::{Ptk, wrap};

const REPEATS: u8 = 2;
/// FT action codes (9.6.8).
const FT_REQUEST: u8 = 1;
const FT_RESPONSE: u8 = 2;

const ZERO: [u8; 32] = [0; 32];

/// The station's end.
pub struct FtStation {
    config: FtConfig,
    snonce: [u8; 32],
    derived: Option<Derived>,
    anonce: [u8; 32],
    resend: Resend,
    state: Status,
}

impl FtStation {
    /// A station that is about to leave its AP.
    #[must_use]
    pub const fn new(config: FtConfig) -> Self {
        Self {
            config,
            snonce: ZERO,
            derived: None,
            anonce: ZERO,
            resend: Resend::new(REPEATS),
            state: Status::Waiting,
        }
    }

    fn answered(&mut self, elements: &Elements<'_>, context: &mut Context<'_>) {
        let octets = self.config.mic().octets();
        let Some(body) = elements.find_id(id::FAST_TRANSITION) else {
            return;
        };
        let Ok(theirs) = FteRepr::parse(body, octets) else {
            return;
        };
        if *theirs.snonce != self.snonce || self.derived.is_some() {
            return;
        }
        self.anonce = *theirs.anonce;
        let (anonce, snonce) = (self.anonce, self.snonce);
        let Some(derived) = self.config.derive(context, &anonce, &snonce) else {
            return;
        };
        let mut own = fte(
            &ZERO[..octets],
            &anonce,
            &snonce,
            self.config.r0_key_holder(),
        );
        let ap = *self.config.link.access_point.octets();
        own.r1kh_id = Some(&ap);
        let channel = self.config.link.operating_channel(Party::Station);
        own.oci = channel.as_ref().map(|oci| &oci[..]);
        let protect = Some((5, derived.ptk.kck()));
        let mut rest = element(id::SSID, &self.config.link.ssid);
        let phy = &self.config.link.announced.station;
        rest.extend_from_slice(&phy.rates);
        rest.extend(
            self.config
                .elements(context, derived.r1_name, &own, protect),
        );
        for more in [&phy.to_vht, &phy.from_he, &phy.vendor] {
            rest.extend_from_slice(more);
        }
        self.derived = Some(derived);
        let body = ManagementRepr::ReassociationRequest(
            self.config.link.capability(),
            1,
            self.config.old_access_point,
            &rest,
        );
        let frame =
            self.config
                .link
                .management(Party::Station, subtype::REASSOCIATION_REQUEST, &body);
        self.resend.send(
            context,
            Party::Station,
            Party::AccessPoint,
            Carrier::Management,
            frame,
        );
    }

    fn reassociated(&mut self, elements: &Elements<'_>, context: &mut Context<'_>) {
        let Some(derived) = &self.derived else {
            return;
        };
        let protect = (6, derived.ptk.kck());
        if !self
            .config
            .verify(context, elements, derived.r1_name, protect)
        {
            return;
        }
        let octets = self.config.mic().octets();
        let theirs = elements
            .find_id(id::FAST_TRANSITION)
            .and_then(|body| FteRepr::parse(body, octets).ok());
        let channel = theirs.and_then(|fte| fte.oci);
        if !self.config.link.admits_channel(Party::Station, channel) {
            let number = reason::LEAVING;
            let link = &self.config.link;
            link.send_deauthentication(context, Party::Station, number);
            self.state = Status::Failed(Failure::WrongChannel {
                code: Code::Reason(number),
            });
            return;
        }
        let open = |wrapped: &[u8]| wrap::unwrap(derived.ptk.kek(), wrapped).ok();
        let gtk = theirs.and_then(|fte| open(fte.gtk?.get(11..)?));
        let igtk = theirs.and_then(|fte| open(fte.igtk?.get(9..)?));
        let bigtk = theirs.and_then(|fte| open(fte.bigtk?.get(9..)?));
        let link = &self.config.link;
        if let Some(gtk) = gtk
            && igtk.is_some() == link.group_management().is_some()
            && bigtk.is_some() == link.beacon_integrity().is_some()
        {
            let keys = [&igtk, &bigtk].map(|key| key.as_ref().map_or(&[][..], |key| &key[..]));
            self.state = Status::Established(secrets(&derived.ptk, &gtk, keys));
        }
    }
}

fn secrets(ptk: &Ptk, gtk: &[u8], [igtk, bigtk]: [&[u8]; 2]) -> Secrets {
    let mut secrets = Secrets::from([
        (SecretName::Kck, ptk.kck().to_vec()),
        (SecretName::Kek, ptk.kek().to_vec()),
        (SecretName::Tk, ptk.tk().to_vec()),
        (SecretName::Gtk, gtk.to_vec()),
    ]);
    if !igtk.is_empty() {
        secrets.insert(SecretName::Igtk, igtk.to_vec());
    }
    if !bigtk.is_empty() {
        secrets.insert(SecretName::Bigtk, bigtk.to_vec());
    }
    secrets
}

impl Peer for FtStation {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        self.snonce = context.random();
        let Some(r0) = self.config.r0() else {
            return;
        };
        let octets = self.config.mic().octets();
        let snonce = self.snonce;
        let own = fte(&ZERO[..octets], &ZERO, &snonce, self.config.r0_key_holder());
        let rest = self.config.elements(context, r0.name(), &own, None);
        let (to, frame) = if self.config.over_the_ds {
            let mut action = vec![FT_REQUEST];
            action.extend(self.config.link.station.octets());
            action.extend(self.config.link.access_point.octets());
            action.extend(rest);
            let old = Link {
                access_point: self.config.old_access_point,
                ..self.config.link.clone()
            };
            let body = ManagementRepr::Action(category::FT, &action);
            (
                Party::OldAccessPoint,
                old.management(Party::Station, subtype::ACTION, &body),
            )
        } else {
            let body = ManagementRepr::Authentication(algorithm::FT, 1, 0, &rest);
            let link = &self.config.link;
            (
                Party::AccessPoint,
                link.management(Party::Station, subtype::AUTHENTICATION, &body),
            )
        };
        self.resend
            .send(context, Party::Station, to, Carrier::Management, frame);
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if self.state != Status::Waiting {
            return;
        }
        let refused = |number| {
            let code = Code::Status(number);
            Status::Failed(match number {
                status::INVALID_PMKID | status::INVALID_FTE => Failure::WrongPassphrase { code },
                _ => Failure::NothingInCommon { code },
            })
        };
        match read_management(message) {
            Some((
                _,
                Management::Authentication {
                    algorithm: algorithm::FT,
                    transaction: 2,
                    status,
                    rest,
                },
            )) => {
                if status == status::SUCCESS {
                    self.answered(&Elements::new(rest), context);
                } else {
                    self.state = refused(status);
                }
            }
            Some((
                _,
                Management::Action {
                    category: category::FT,
                    rest: [FT_RESPONSE, rest @ ..],
                },
            )) => {
                // Station, target, status, then the elements.
                if let Some((head, elements)) = rest.split_at_checked(14) {
                    let number = u16::from_le_bytes([head[12], head[13]]);
                    if number == status::SUCCESS {
                        self.answered(&Elements::new(elements), context);
                    } else {
                        self.state = refused(number);
                    }
                }
            }
            Some((
                subtype::REASSOCIATION_RESPONSE,
                Management::AssociationResponse {
                    status, elements, ..
                },
            )) => {
                if status == status::SUCCESS {
                    self.reassociated(&elements, context);
                } else if status == status::INVALID_FTE && self.config.link.validates_channel() {
                    // A target does not answer a wrong MIC: only the channel is left.
                    let code = Code::Status(status);
                    self.state = Status::Failed(Failure::WrongChannel { code });
                } else {
                    self.state = refused(status);
                }
            }
            _ => {}
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        self.resend.on_timeout(context, &mut self.state);
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// How a target refuses a reassociation request.
enum Refusal {
    /// It drops the request.
    Silent,
    /// The request names another channel. The status is that of hostapd.
    Channel,
}

/// The target AP.
pub struct FtTarget {
    config: FtConfig,
    nonces: Option<([u8; 32], [u8; 32])>,
    derived: Option<Derived>,
    keys: Option<GroupKeys>,
    patience: Resend,
    state: Status,
}

impl FtTarget {
    /// A target that holds the station's PMK-R1.
    #[must_use]
    pub fn new(config: FtConfig) -> Self {
        Self {
            keys: config.group_keys.clone(),
            config,
            nonces: None,
            derived: None,
            patience: Resend::new(3 * REPEATS),
            state: Status::Waiting,
        }
    }

    /// Elements of the answer, or the status that refuses.
    fn first(
        &mut self,
        elements: &Elements<'_>,
        context: &mut Context<'_>,
    ) -> Result<Vec<u8>, u16> {
        let octets = self.config.mic().octets();
        let body = elements
            .find_id(id::FAST_TRANSITION)
            .ok_or(status::INVALID_FTE)?;
        let snonce = *FteRepr::parse(body, octets)
            .map_err(|_| status::INVALID_FTE)?
            .snonce;
        let asked = elements
            .find_id(id::RSN)
            .and_then(|rsne| RsnRepr::parse(rsne).ok());
        let known = self.config.r0().map(|r0| r0.name());
        if known.is_none() || asked.is_none_or(|asked| asked.pmkids.first() != known.as_ref()) {
            return Err(status::INVALID_PMKID);
        }
        let anonce = match self.nonces {
            Some((anonce, before)) if before == snonce => anonce,
            _ => context.random(),
        };
        self.nonces = Some((anonce, snonce));
        let derived = self
            .config
            .derive(context, &anonce, &snonce)
            .ok_or(status::UNSPECIFIED)?;
        let mut own = fte(
            &ZERO[..octets],
            &anonce,
            &snonce,
            self.config.r0_key_holder(),
        );
        let ap = *self.config.link.access_point.octets();
        own.r1kh_id = Some(&ap);
        let rest = self.config.elements(context, derived.r0_name, &own, None);
        self.derived = Some(derived);
        Ok(rest)
    }

    fn second(
        &mut self,
        elements: &Elements<'_>,
        context: &mut Context<'_>,
    ) -> Result<Vec<u8>, Refusal> {
        let (Some(derived), Some((anonce, snonce))) = (&self.derived, self.nonces) else {
            return Err(Refusal::Silent);
        };
        let protect = (5, derived.ptk.kck());
        if !self
            .config
            .verify(context, elements, derived.r1_name, protect)
        {
            return Err(Refusal::Silent);
        }
        let link = &self.config.link;
        let octets = self.config.mic().octets();
        let channel = elements
            .find_id(id::FAST_TRANSITION)
            .and_then(|body| FteRepr::parse(body, octets).ok()?.oci);
        if !link.admits_channel(Party::AccessPoint, channel) {
            return Err(Refusal::Channel);
        }
        let keys = self.keys.get_or_insert_with(|| GroupKeys {
            gtk: context.random_octets(link.group.key_octets()),
            igtk: link
                .group_management()
                .map_or_else(Vec::new, |suite| context.random_octets(suite.key_octets())),
            bigtk: link
                .beacon_integrity()
                .map_or_else(Vec::new, |suite| context.random_octets(suite.key_octets())),
            key_id: 1,
        });
        let kek = derived.ptk.kek();
        let mut sealed = |head: &[u8], key: &[u8]| {
            context.record_aes(kek.len(), 6 * key.len() / 8);
            [head, &wrap::wrap(kek, key).unwrap_or_default()].concat()
        };
        let length = |key: &[u8]| u8::try_from(key.len()).unwrap_or(0);
        // Key information, key length, RSC, wrapped key; key ID, IPN, key length, wrapped key
        // (9.4.2.47).
        let mut head = vec![keys.key_id, 0, length(&keys.gtk)];
        head.extend([0; 8]);
        let gtk = sealed(&head, &keys.gtk);
        let mut integrity = |key: &[u8], key_id: u8| {
            (!key.is_empty()).then(|| {
                let mut head = vec![key_id, 0];
                head.extend([0; 6]);
                head.push(length(key));
                sealed(&head, key)
            })
        };
        let igtk = integrity(&keys.igtk, keys.key_id + 3);
        let bigtk = integrity(&keys.bigtk, keys.key_id + 5);
        let octets = self.config.mic().octets();
        let mut own = fte(
            &ZERO[..octets],
            &anonce,
            &snonce,
            self.config.r0_key_holder(),
        );
        let ap = *self.config.link.access_point.octets();
        own.r1kh_id = Some(&ap);
        own.gtk = Some(&gtk);
        own.igtk = igtk.as_deref();
        own.bigtk = bigtk.as_deref();
        let channel = link.operating_channel(Party::AccessPoint);
        own.oci = channel.as_ref().map(|oci| &oci[..]);
        let protect = Some((6, derived.ptk.kck()));
        let phy = &self.config.link.announced.access_point;
        let mut rest = phy.rates.clone();
        rest.extend(
            self.config
                .elements(context, derived.r1_name, &own, protect),
        );
        for more in [&phy.to_vht, &phy.from_he, &phy.vendor] {
            rest.extend_from_slice(more);
        }
        self.state =
            Status::Established(secrets(&derived.ptk, &keys.gtk, [&keys.igtk, &keys.bigtk]));
        Ok(rest)
    }

    fn refuse(&mut self, number: u16) {
        if self.state == Status::Waiting && number == status::INVALID_PMKID {
            self.state = Status::Failed(Failure::WrongPassphrase {
                code: Code::Status(number),
            });
        }
    }
}

impl Peer for FtTarget {
    fn party(&self) -> Party {
        Party::AccessPoint
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if message.carrier == Carrier::DistributionSystem {
            let Some((header, [category::FT, FT_REQUEST, action @ ..])) =
                message.octets.split_first_chunk::<REMOTE_OCTETS>()
            else {
                return;
            };
            let Some((addresses, elements)) = action.split_at_checked(12) else {
                return;
            };
            let result = self.first(&Elements::new(elements), context);
            let (number, rest) = match result {
                Ok(rest) => (status::SUCCESS, rest),
                Err(number) => (number, Vec::new()),
            };
            let mut response = vec![category::FT, FT_RESPONSE];
            response.extend(addresses);
            response.extend(number.to_le_bytes());
            response.extend(rest);
            let octets = remote(1, &header[4..], &response);
            context.send(
                Party::AccessPoint,
                Party::OldAccessPoint,
                Carrier::DistributionSystem,
                octets,
            );
            self.refuse(number);
            return;
        }
        match read_management(message) {
            Some((
                _,
                Management::Authentication {
                    algorithm: algorithm::FT,
                    transaction: 1,
                    rest,
                    ..
                },
            )) => {
                let (number, rest) = match self.first(&Elements::new(rest), context) {
                    Ok(rest) => (status::SUCCESS, rest),
                    Err(number) => (number, Vec::new()),
                };
                let fields = AuthenticationFields {
                    algorithm: algorithm::FT,
                    transaction: 2,
                    status: number,
                };
                self.config
                    .link
                    .send_authentication(context, Party::AccessPoint, fields, &rest);
                self.refuse(number);
            }
            Some((
                subtype::REASSOCIATION_REQUEST,
                Management::AssociationRequest { elements, .. },
            )) => {
                let (number, rest) = match self.second(&elements, context) {
                    Ok(rest) => (status::SUCCESS, rest),
                    // 13.7.1: a request without a right MIC is dropped.
                    Err(Refusal::Silent) => return,
                    Err(Refusal::Channel) => {
                        if self.state == Status::Waiting {
                            let code = Code::Status(status::INVALID_FTE);
                            self.state = Status::Failed(Failure::WrongChannel { code });
                        }
                        (status::INVALID_FTE, Vec::new())
                    }
                };
                let link = &self.config.link;
                let body =
                    ManagementRepr::AssociationResponse(link.capability(), number, 0xc001, &rest);
                let frame =
                    link.management(Party::AccessPoint, subtype::REASSOCIATION_RESPONSE, &body);
                context.send(
                    Party::AccessPoint,
                    Party::Station,
                    Carrier::Management,
                    frame,
                );
            }
            _ => {}
        }
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {
        if self.state == Status::Waiting && !self.patience.wait() {
            self.state = Status::Failed(Failure::PeerTimeout {
                code: Code::Status(status::TIMEOUT),
            });
        }
    }

    fn status(&self) -> Status {
        self.state.clone()
    }
}

/// Octets before the FT Action frame's body in a frame between APs: frame type, packet type,
/// length and the address of the AP that the station is with (13.10.3).
const REMOTE_OCTETS: usize = 10;

/// A remote request (0) or response (1) with the body of an FT Action frame in it.
fn remote(packet_type: u8, current: &[u8], action: &[u8]) -> Vec<u8> {
    let length = u16::try_from(action.len()).unwrap_or(u16::MAX);
    let mut octets = vec![1, packet_type];
    octets.extend(length.to_le_bytes());
    octets.extend(current);
    octets.extend(action);
    octets
}

/// The AP that the station leaves: it relays FT action frames over the DS.
pub struct FtOldAccessPoint {
    config: FtConfig,
}

impl FtOldAccessPoint {
    /// A relay in the mobility domain of `config`.
    #[must_use]
    pub const fn new(config: FtConfig) -> Self {
        Self { config }
    }
}

impl Peer for FtOldAccessPoint {
    fn party(&self) -> Party {
        Party::OldAccessPoint
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if message.carrier == Carrier::DistributionSystem {
            let Some((_, [category::FT, action @ ..])) =
                message.octets.split_first_chunk::<REMOTE_OCTETS>()
            else {
                return;
            };
            let old = Link {
                access_point: self.config.old_access_point,
                ..self.config.link.clone()
            };
            let body = ManagementRepr::Action(category::FT, action);
            let frame = old.management(Party::OldAccessPoint, subtype::ACTION, &body);
            context.send(
                Party::OldAccessPoint,
                Party::Station,
                Carrier::Management,
                frame,
            );
            return;
        }
        if let Some((
            _,
            Management::Action {
                category: category::FT,
                rest: [FT_REQUEST, rest @ ..],
            },
        )) = read_management(message)
        {
            let action = [&[category::FT, FT_REQUEST], rest].concat();
            let octets = remote(0, self.config.old_access_point.octets(), &action);
            context.send(
                Party::OldAccessPoint,
                Party::AccessPoint,
                Carrier::DistributionSystem,
                octets,
            );
        }
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {}

    fn status(&self) -> Status {
        Status::Established(Secrets::new())
    }
}

/// The parties of a transition.
#[must_use]
pub fn parties(station: FtConfig, target: FtConfig) -> Vec<Box<dyn Peer>> {
    let mut peers: Vec<Box<dyn Peer>> = vec![
        Box::new(FtStation::new(station.clone())),
        Box::new(FtTarget::new(target)),
    ];
    if station.over_the_ds {
        peers.push(Box::new(FtOldAccessPoint::new(station)));
    }
    peers
}

#[cfg(test)]
mod tests;
